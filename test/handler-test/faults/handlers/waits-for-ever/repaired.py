"""Fetches a price. It gives the far side a second."""
import json
import os
import sys
import urllib.request

try:
    with urllib.request.urlopen("https://prices.example.test/eur", timeout=1) as answer:
        price = json.load(answer)["price"]
except (OSError, ValueError) as error:
    sys.exit("no price: %s" % error)
target = os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "price.txt")
with open(target + ".part", "w") as file:
    file.write("%s\n" % price)
os.replace(target + ".part", target)
