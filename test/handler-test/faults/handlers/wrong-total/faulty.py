"""Adds amounts up, in floating point."""
import json
import sys

with open(sys.argv[1]) as file:
    payload = json.load(file)
amounts = payload.get("amounts") if isinstance(payload, dict) else None
if not isinstance(amounts, list) or not all(type(each) in (int, float) for each in amounts):
    sys.exit("payload.amounts must be a list of numbers")
print("total", sum(amounts))
