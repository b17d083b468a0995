#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Sluice authors
"""Hands out the metrics of Kueue's manager, which asks for TLS and a token, to the suites, which ask without.

usage: read_metrics.py PORT URL TOKEN"""
import http.server, ssl, sys, urllib.request

PORT, URL, TOKEN = sys.argv[1:]
ANY = ssl.create_default_context()
ANY.check_hostname, ANY.verify_mode = False, ssl.CERT_NONE


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            asked = urllib.request.Request(URL, headers={"Authorization": f"Bearer {TOKEN}"})
            code, text = 200, urllib.request.urlopen(asked, context=ANY, timeout=5).read()
        except OSError as error:
            code, text = 502, str(error).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Metrics).serve_forever()
