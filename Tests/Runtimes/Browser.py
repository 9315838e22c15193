"""A person with a phone: walks the web flow in a real Chromium, over WebDriver (W3C), and says where it ended.

Standard input is a JSON object:
  site      where the function is, such as https://localhost:8443
  key       base64 of the SHA-256 of its public key: the only certificate that is taken on trust
  return    the path at which the app gets its answer; the app is a page that this program serves
  port      where it serves that page
  pictures  a folder for screenshots
  walks     [{"name":…, "person":…, "email":"share"|"hide", "action":"continue"|"cancel"}]
  foreign   an answer of Apple's that belongs to another browser: its fields

Standard output is a JSON object: for each walk what the app's page was given, and what the browser showed for `foreign`.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

task = json.load(sys.stdin)

APP = """<!doctype html>
<html lang="es"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Finnova</title>
<style>body{font:1.1rem system-ui;margin:2rem 1.5rem}button{display:block;width:100%;min-height:48px;font:inherit;
font-weight:600;color:#fff;background:#000;border:0;border-radius:.75rem}</style>
<h1>Finnova</h1>
<p id="said">…</p>
<script>
const text = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/[+]/g, "-").replace(/[/]/g, "_").replace(/=+$/, "")
const random = () => text(crypto.getRandomValues(new Uint8Array(32)))
const button = async () => {
  const answer = await (await fetch("SITE/auth/providers?platform=android")).json()
  const apple = answer.providers.find(provider => provider.id === "apple")
  if (!apple.show || apple.flow !== "web") { said.textContent = "sin botón"; return }
  const flow = { verifier: random(), state: random() }
  sessionStorage.setItem("flow", JSON.stringify(flow))
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(flow.verifier))
  const query = new URLSearchParams({ return_url: location.origin + "RETURN", code_challenge: text(digest),
    code_challenge_method: "S256", state: flow.state })
  const button = document.createElement("button")
  button.id = "apple"
  button.textContent = "Continuar con Apple"
  button.onclick = () => location.assign(apple.authorize_url + "?" + query)
  said.replaceWith(button)
}
if (location.pathname === "/") button()
else said.textContent = "De vuelta en la app"
</script>
"""


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        text = FOREIGN if self.path == "/foreign" else APP
        body = text.replace("SITE", task["site"]).replace("RETURN", task["return"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


FIELDS = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in task["foreign"].items())
FOREIGN = f"""<!doctype html><title>Premio</title>
<form method="post" action="SITE/auth/apple/callback">{FIELDS}<button>Reclamar</button></form>"""


class Browser:
    """The few commands of WebDriver that a thumb needs."""

    def __init__(self, folder):
        output = open(os.path.join(folder, "chromedriver.log"), "w+")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            env={"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"})
        for _ in range(200):
            output.seek(0)
            words = output.read().split("on port ")
            if len(words) > 2 or (len(words) == 2 and "successfully" in words[0]):
                break
            time.sleep(0.05)
        self.url = "http://127.0.0.1:%d" % int(words[-1].split(".")[0].split()[0])
        arguments = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
            "--disable-background-networking", "--lang=es-MX", f"--user-data-dir={folder}/profile",
            f"--ignore-certificate-errors-spki-list={task['key']}",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        phone = {
            "deviceMetrics": {"width": 412, "height": 915, "pixelRatio": 2, "touch": True, "mobile": True},
            "userAgent": "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/156.0.0.0 Mobile Safari/537.36",
        }
        options = {"binary": "/usr/bin/chromium", "args": arguments, "mobileEmulation": phone,
                   "prefs": {"intl.accept_languages": "es-MX,es"}}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "timeouts": {"pageLoad": 15000, "script": 5000}}}})
        self.url += "/session/" + session["sessionId"]

    def ask(self, method, path, body=None):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["error"]) from None

    def go(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script):
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def where(self):
        return self.ask("GET", "/url")

    def touch(self, selector):
        """As a finger does: what is covered or not there cannot be touched."""
        element = self.wait(lambda: self.ask("POST", "/element", {"using": "css selector", "value": selector}))
        self.ask("POST", f"/element/{next(iter(element.values()))}/click", {})

    def wait(self, ready):
        for _ in range(150):
            try:
                value = ready()
                if value:
                    return value
            except RuntimeError:
                pass
            time.sleep(0.1)
        raise TimeoutError(self.run("return document.title"))

    def picture(self, name):
        with open(os.path.join(task["pictures"], name + ".png"), "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait()


def walk(browser, app, step):
    name = step["name"]
    browser.go(app + "/")
    browser.wait(lambda: browser.run("return !!document.getElementById('apple')"))
    browser.picture(name + "-1-app")
    browser.touch("#apple")
    browser.wait(lambda: "/auth/authorize" in browser.where())
    browser.touch(f"input[name=person][value={step['person']}]")
    browser.touch(f"input[name=email_choice][value={step['email']}]")
    browser.picture(name + "-2-apple")
    browser.touch(f"button[name=action][value={step['action']}]")
    browser.wait(lambda: browser.where().startswith(app + task["return"]))
    browser.wait(lambda: browser.run("return document.getElementById('said')?.textContent") == "De vuelta en la app")
    browser.picture(name + "-3-back")
    script = ("const flow = JSON.parse(sessionStorage.getItem('flow'));"
              "return {flow, referrer: document.referrer,"
              " parameters: [...new URLSearchParams(location.search)], cookies: document.cookie}")
    return {"name": name, **browser.run(script)}


def foreign(browser, app):
    """The person is lured to a page that sends another's answer of Apple's."""
    browser.go(app + "/foreign")
    browser.touch("button")
    browser.wait(lambda: browser.where() == task["site"] + "/auth/apple/callback")
    browser.wait(lambda: browser.run("return !!document.querySelector('main')"))
    browser.picture("error")
    return browser.run(
        "const style = getComputedStyle(document.querySelector('main'));"
        "return {title: document.title, language: document.documentElement.lang, text: document.body.innerText,"
        " width: document.documentElement.scrollWidth, view: innerWidth, background: style.backgroundColor,"
        " size: parseFloat(getComputedStyle(document.querySelector('p')).fontSize)}")


with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
    server = ThreadingHTTPServer(("127.0.0.1", task["port"]), App)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    app = f"http://127.0.0.1:{task['port']}"
    browser = Browser(folder)
    try:
        said = {"walks": [walk(browser, app, step) for step in task["walks"]], "foreign": foreign(browser, app)}
    finally:
        browser.close()
    json.dump(said, sys.stdout)
