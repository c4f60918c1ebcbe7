"""Fetches a quote. Told that it asks too often, it asks twice more; then the queue tries later."""
import sys
import time
import urllib.error
import urllib.request

for left in (2, 1, 0):
    try:
        with urllib.request.urlopen("https://quotes.example.test/", timeout=1) as answer:
            print(answer.read().decode())
            break
    except urllib.error.HTTPError as error:
        if error.code != 429 or left == 0:
            sys.exit("no quote: %s" % error)
        time.sleep(0.2)
    except OSError as error:
        sys.exit("no quote: %s" % error)
    except Exception as error:
        sys.exit("no quote: %r" % error)
