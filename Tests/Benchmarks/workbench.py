"""What every benchmark stands on: keys, settings, events and stores in one folder, and the commands of the programs."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AUTH_APPLE = ROOT / "dist/auth-apple"
SIMULATOR = ROOT / "dist/apple-simulator"
PERSON = {"subject": "001234.known.0001", "email": "ana@example.com"}


class Workbench:
    def __init__(self, folder, peers):
        self.folder = Path(folder)
        self.commands = {"auth-apple": [str(AUTH_APPLE)]}
        for line in (Path(peers) / "commands").read_text().splitlines():
            name, *words = line.split()
            self.commands[name] = words
        keys = self.folder / "apple-keys.json"
        self.environment = {
            "PATH": os.environ["PATH"], "APPLE_SIMULATOR_KEYS": str(self.folder / "apple-private-keys.json"),
            "AUTH_APPLE_MODE": "development", "AUTH_APPLE_AUDIENCES": "com.example.app",
            "AUTH_APPLE_SIGNING_KEYS_FILE": str(self.folder / "signing-keys.json"),
            "AUTH_APPLE_TOKEN_ISSUER": "https://auth.example.com", "AUTH_APPLE_TOKEN_AUDIENCE": "https://api.example.com",
            "AUTH_APPLE_KEYS_URL": f"file://{keys}", "AUTH_APPLE_KEY_CACHE": str(self.folder / "cache/apple-keys.json"),
            "PEER_KEY_SET": str(keys)}
        keys.write_text(self.output(SIMULATOR, "keys"))
        keys.chmod(0o600)
        self.output(AUTH_APPLE, "keys", "new")

    def output(self, *command, **more):
        return subprocess.run(
            [str(word) for word in command], env=self.environment | more, check=True, capture_output=True,
            text=True).stdout

    def token(self, subject, *options, email=None, nonce="benchmark"):
        words = ["--subject", subject, "--nonce", nonce, *options]
        return self.output(SIMULATOR, "token", *words, *(["--email", email] if email else [])).strip()

    def event(self, token, **members):
        """An event as the plain doorway takes it, on one line; a member that is None is left out."""
        body = {
            "identity_token": token, "nonce": "benchmark", "full_name": "Ana García",
            "deviceInfo": {"platform": "ios", "model": "iPhone17,1", "app_version": "1.0.0"}} | members
        body = {name: value for name, value in body.items() if value is not None}
        return json.dumps({
            "method": "POST", "path": "/auth/apple", "headers": {"content-type": "application/json"},
            "body": json.dumps(body, ensure_ascii=False, separators=(",", ":"))}, ensure_ascii=False) + "\n"

    def new_store(self, folder):
        """An empty store with the schema as auth-apple makes it."""
        folder.mkdir(mode=0o700, parents=True)
        path = folder / "store.db"
        self.output(AUTH_APPLE, "store", "migrate", AUTH_APPLE_STORE=f"sqlite:{path}")
        return path

    def run(self, name, store, events, lines=False):
        """The answers and the log of a program: one process an event, or one for all."""
        command = self.commands[name]
        words = [word for word in command if "=" not in word] + (["lines"] if lines else [])
        variables = dict(word.split("=", 1) for word in command if "=" in word)
        answers, log = [], ""
        for text in ["".join(events)] if lines else events:
            ended = subprocess.run(
                words, env=self.environment | variables | {"AUTH_APPLE_STORE": f"sqlite:{store}"}, input=text,
                capture_output=True, text=True, timeout=60)
            if ended.returncode != 0:
                raise SystemExit(f"{name} ended with {ended.returncode}: {ended.stderr}")
            answers += [json.loads(line) for line in ended.stdout.splitlines()]
            log += ended.stderr
        return answers, log
