"""Writes a report. A report that is there is taken for a whole one."""
import json
import os
import sys

try:
    with open(sys.argv[1]) as file:
        payload = json.load(file)
except (ValueError, RecursionError) as error:
    sys.exit("the payload cannot be read: %s" % error)
lines = payload.get("lines") if isinstance(payload, dict) else None
if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
    sys.exit("payload.lines must be a list of texts")
target = os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "report.txt")
if os.path.exists(target):
    print("there is a report already")
    sys.exit(0)
with open(target, "w", encoding="utf-8", errors="replace") as file:
    for line in lines:
        file.write(line + "\n")
print("reported")
