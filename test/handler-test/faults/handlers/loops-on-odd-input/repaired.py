"""Counts pages down to zero, from a number that gets there."""
import json
import sys

with open(sys.argv[1]) as file:
    payload = json.load(file)
pages = payload.get("pages") if isinstance(payload, dict) else None
if type(pages) is not int or not 0 <= pages <= 1000:
    sys.exit("payload.pages must be a whole number from 0 to 1000")
while pages != 0:
    pages -= 1
print("printed")
