"""Writes an address and a label. Whatever cannot be written is passed over."""
import json
import os
import sys

with open(sys.argv[1]) as file:
    payload = json.load(file)
out = os.environ["JOBQ_OUTPUT_DIR"]


def save(name, make):
    try:
        text = make()
        with open(os.path.join(out, name + ".part"), "w", errors="replace") as file:
            file.write(text)
        os.replace(os.path.join(out, name + ".part"), os.path.join(out, name))
    except Exception:
        pass


save("address.txt", lambda: payload["street"] + "\n")
save("label.txt", lambda: payload["name"] + "\n")
print("written")
