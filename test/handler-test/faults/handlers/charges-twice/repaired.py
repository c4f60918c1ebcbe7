"""Charges a card. The far side knows a repeat by its key."""
import json
import os
import sys
import urllib.request

try:
    with open(sys.argv[1]) as file:
        payload = json.load(file)
    if not isinstance(payload, dict) or type(payload.get("amount")) is not int:
        sys.exit("payload.amount must be a whole number")
    request = urllib.request.Request(
        "https://pay.example.test/charges",
        data=json.dumps({"amount": payload["amount"]}).encode(),
        headers={
            "Content-Type": "application/json",
            "Idempotency-Key": "job-%s" % os.environ["JOBQ_JOB_ID"],
        },
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=2) as answer:
        print("charged", json.load(answer)["id"])
except (OSError, ValueError) as error:
    sys.exit("the charge failed: %s" % error)
