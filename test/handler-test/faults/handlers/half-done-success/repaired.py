"""Writes an address and a label, when there is all that both need."""
import json
import os
import sys

with open(sys.argv[1]) as file:
    payload = json.load(file)
out = os.environ["JOBQ_OUTPUT_DIR"]


def text(key):
    value = payload.get(key) if isinstance(payload, dict) else None
    if not isinstance(value, str):
        sys.exit("payload.%s must be a text" % key)
    return value


def save(name, text):
    with open(os.path.join(out, name + ".part"), "w", errors="replace") as file:
        file.write(text)
    os.replace(os.path.join(out, name + ".part"), os.path.join(out, name))


street, name = text("street"), text("name")
save("address.txt", street + "\n")
save("label.txt", name + "\n")
print("written")
