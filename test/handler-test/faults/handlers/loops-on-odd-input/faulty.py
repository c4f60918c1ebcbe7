"""Counts pages down to zero. What is no number of pages never gets there."""
import json
import sys

with open(sys.argv[1]) as file:
    payload = json.load(file)
pages = payload.get("pages") if isinstance(payload, dict) else None
while pages != 0:
    if isinstance(pages, int):
        pages -= 1
print("printed")
