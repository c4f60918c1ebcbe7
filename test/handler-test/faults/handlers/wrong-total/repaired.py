"""Adds amounts up, digit for digit."""
import decimal
import json
import sys

with open(sys.argv[1]) as file:
    payload = json.load(file, parse_float=decimal.Decimal)
amounts = payload.get("amounts") if isinstance(payload, dict) else None
if not isinstance(amounts, list) or not all(
    type(each) in (int, decimal.Decimal) for each in amounts
):
    sys.exit("payload.amounts must be a list of numbers")
print("total", sum(amounts))
