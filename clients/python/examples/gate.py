"""Lets customers in who are entitled: python gate.py, then GET /?customer=501"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from retention import Retention, RetentionError

url, key = os.environ["RETENTION_URL"], os.environ["RETENTION_API_KEY"]
retention = Retention(base_url=url, key=key)


class Gate(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        try:
            customer = int(parse_qs(urlsplit(self.path).query)["customer"][0])
            # From memory for a minute, else in two seconds; an hour in outages.
            self.send_response(200 if retention.entitled(customer) else 402)
        except (KeyError, ValueError):
            self.send_response(400)
        except RetentionError:
            self.send_response(503)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Gate)
print(f"Listening on port {server.server_port}", flush=True)
server.serve_forever()
