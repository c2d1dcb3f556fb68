"""Scripted IMAP and SMTP peers on 127.0.0.1, which play a case's imap.txt or smtp.txt (format: the corpus README).

with ImapPlayer(case_dir) as peer: ... peer.port, peer.commands, peer.appends, peer.connects, peer.store()
with SmtpPlayer(case_dir) as peer: ... peer.port, peer.commands, peer.transactions, peer.connects
"""

import base64
import email
import email.utils
import fnmatch
import os
import re
import socket
import sys
import threading
import time
from pathlib import Path


def unpct(s):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), s.encode("utf-8"))


def unq(s):
    return re.sub(r"\\(.)", r"\1", s)


def glob(pat):
    rx = "".join(".*" if ch == "*" else re.escape(ch) for ch in pat)
    return re.compile(rx + r"\Z", re.I | re.S)


class Script:
    def __init__(self, path):
        self.caps = None
        self.caps_auth = None
        self.style = "code"
        self.boxes = {}
        self.lists = []
        self.items = {}
        self.before = []
        self.on = []
        self.ehlo = []
        self.later = []
        base = os.path.dirname(path)
        block = None
        for line in Path(path).read_text("utf-8").split("\n"):
            if not line:
                block = None
                continue
            if line.startswith("#"):
                continue
            m = re.match(r"(S>|S\||WAIT|CLOSE|DEFAULT|SEARCHRANGE|APPEND-OK)(?: (.*))?$", line, re.S)
            if block is not None and m:
                block.append((m[1], m[2] or ""))
                continue
            block = None
            word, _, rest = line.partition(" ")
            if word == "CAPS":
                self.caps = rest.split()
            elif word == "CAPS-AUTH":
                self.caps_auth = rest.split()
            elif word == "CAPS-STYLE":
                self.style = rest
            elif word == "EHLO":
                self.ehlo = rest.split("|")
            elif word == "LIST":
                self.lists.append(unpct(rest))
            elif word == "ITEM":
                uid, name, val = rest.split(" ", 2)
                self.items[int(uid), name.upper()] = None if val == "-" else unpct(val)
            elif word.startswith("BEFORE"):
                pat, _, text = rest.partition(" | ")
                self.before.append([glob(pat), int(word[7:] or 0) if "#" in word else 0, unpct(text), 0])
            elif word == "ON":
                m = re.match(r"(.*?)(?: #(\d+))?$", rest)
                block = []
                self.on.append([glob(m[1]), int(m[2] or 0), block, 0])
            elif word in ("MAILBOX", "MSG", "ADD-ON-CONNECT"):
                k = 0
                if word == "ADD-ON-CONNECT":
                    ks, _, rest = rest.partition(" ")
                    k = int(ks)
                m = re.match(r'"((?:[^"\\]|\\.)*)"(.*)$', rest)
                name = unq(m[1])
                a = {
                    x[0]: (x[1] if x[1] is not None else "")
                    for x in re.findall(r'([a-z]+)=(?:"((?:[^"\\]|\\.)*)")', m[2])
                }
                a.update({x[0]: x[1] for x in re.findall(r'([a-z]+)=([^" ]+)', m[2]) if x[0] not in a})
                a["readonly"] = " readonly" in m[2]
                if word == "MAILBOX":
                    self.boxes[name] = {
                        "uidvalidity": int(a["uidvalidity"]),
                        "uidnext": int(a["uidnext"]),
                        "permflags": unq(a["permflags"]) if "permflags" in a else None,
                        "attrs": unq(a.get("attrs", "")),
                        "readonly": a["readonly"],
                        "msgs": [],
                    }
                else:
                    raw = (
                        Path(base, a["file"]).read_bytes()
                        if "file" in a
                        else (
                            "From: Sender %s <s%s@example.org>\r\nTo: agent@example.net\r\nSubject: %s\r\nDate: Tue, 03 Mar 2026 09:%02d:00 +0000\r\nMessage-ID: <u%s@mail.example.org>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nText of %s.\r\n"
                            % (a["uid"], a["uid"], unq(a["subject"]), int(a["uid"]) % 60, a["uid"], unq(a["subject"]))
                        ).encode()
                    )
                    msg = {
                        "uid": int(a["uid"]),
                        "flags": set(unq(a.get("flags", "")).split()),
                        "raw": raw,
                        "date": "03-Mar-2026 09:%02d:00 +0000" % (int(a["uid"]) % 60),
                        "subject": unq(a["subject"]),
                    }
                    if k:
                        self.later.append((k, name, msg))
                    else:
                        self.boxes[name]["msgs"].append(msg)


class Player:
    def __init__(self, case_dir, script=None):
        self.script = Script(os.path.join(case_dir, script or self.FILE))
        self.commands = []
        self.connects = 0
        self.stop = False
        self.lock = threading.RLock()
        self.log = False

    def __enter__(self):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *a):
        self.stop = True
        self.sock.close()

    def accept(self):
        while not self.stop:
            try:
                c, _ = self.sock.accept()
            except OSError:
                return
            self.connects += 1
            threading.Thread(target=self.guard, args=(c,), daemon=True).start()

    def guard(self, c):
        try:
            with c.makefile("rb") as f:
                self.session(c, f)
        except (OSError, ValueError, EOFError):
            pass
        finally:
            try:
                c.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            c.close()

    def seen(self, line):
        with self.lock:
            self.commands.append(line)
        if self.log:
            print(line, file=sys.stderr)

    def find(self, line):
        for o in self.script.on:
            if o[0].match(line):
                o[3] += 1
                if o[1] and o[3] != o[1]:
                    continue
                return o[2]
        return None

    def play(self, block, send, tag, extra):
        """True = answered, False = go on with the normal answer, None = closed"""
        answered = True
        for w, t in block:
            if w == "S>":
                send(t.replace("{tag}", tag).encode("utf-8") + b"\r\n")
            elif w == "S|":
                send(unpct(t.replace("{tag}", tag)))
            elif w == "WAIT":
                time.sleep(float(t))
            elif w == "CLOSE":
                return None
            elif w == "DEFAULT":
                answered = False
            elif w == "SEARCHRANGE":
                a, b = map(int, t.split())
                send(b"* SEARCH " + b" ".join(b"%d" % i for i in range(a, b + 1)) + b"\r\n")
            elif w == "APPEND-OK":
                extra()
                send(("%s OK APPEND completed\r\n" % tag).encode())
        return answered


def q(s):
    if s is None:
        return b"NIL"
    b = s if isinstance(s, bytes) else str(s).encode("utf-8", "surrogateescape")
    if re.search(rb"[\r\n\x00\x80-\xff]", b):
        return b"{%d}\r\n" % len(b) + b
    return b'"' + b.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def adrs(m, f):
    try:
        l = [(n, a) for n, a in email.utils.getaddresses([str(x) for x in m.get_all(f, [])]) if a]
    except Exception:
        l = []
    return (
        b"("
        + b"".join(
            b"(" + q(n or None) + b" NIL " + q(a.partition("@")[0]) + b" " + q(a.partition("@")[2]) + b")" for n, a in l
        )
        + b")"
        if l
        else b"NIL"
    )


def envelope(m):
    h = lambda f: q(re.sub(r"\r?\n[ \t]+", " ", str(m[f])) if m[f] is not None else None)
    return (
        b"("
        + b" ".join(
            [
                h("date"),
                h("subject"),
                adrs(m, "from"),
                adrs(m, "sender") if m["sender"] else adrs(m, "from"),
                adrs(m, "reply-to") if m["reply-to"] else adrs(m, "from"),
                adrs(m, "to"),
                adrs(m, "cc"),
                adrs(m, "bcc"),
                h("in-reply-to"),
                h("message-id"),
            ]
        )
        + b")"
    )


def params(m, header="content-type"):
    try:
        p = m.get_params([], header)[1:]
    except Exception:
        p = []
    p = [(k, v if isinstance(v, str) else v[2]) for k, v in p]
    return b"(" + b" ".join(q(k) + b" " + q(v) for k, v in p) + b")" if p else b"NIL"


def structure(m):
    disp = m.get("content-disposition")
    d = b"(" + q(str(disp).split(";")[0].strip()) + b" " + params(m, "content-disposition") + b")" if disp else b"NIL"
    if m.is_multipart() and m.get_content_maintype() == "multipart" and m.get_payload():
        return (
            b"("
            + b"".join(structure(x) for x in m.get_payload())
            + b" "
            + q(m.get_content_subtype())
            + b" "
            + params(m)
            + b" "
            + d
            + b" NIL NIL)"
        )
    body = m.get_payload()
    raw = body if isinstance(body, str) else (body[0].as_string() if body else "")
    s = b"(" + b" ".join(
        [
            q(m.get_content_maintype()),
            q(m.get_content_subtype()),
            params(m),
            q(m.get("content-id")),
            b"NIL",
            q(str(m.get("content-transfer-encoding", "7bit")).strip()),
            b"%d" % len(raw.encode("utf-8", "surrogateescape")),
        ]
    )
    if m.get_content_type() == "message/rfc822" and not isinstance(body, str) and body:
        s += b" " + envelope(body[0]) + b" " + structure(body[0]) + b" %d" % raw.count("\n")
    elif m.get_content_maintype() == "text":
        s += b" %d" % raw.count("\n")
    return s + b" NIL " + d + b" NIL NIL)"


class ImapPlayer(Player):
    FILE = "imap.txt"

    def __init__(self, *a):
        super().__init__(*a)
        self.appends = []
        s = self.script
        s.boxes.setdefault(
            "INBOX", {"uidvalidity": 1, "uidnext": 1, "permflags": None, "attrs": "", "readonly": False, "msgs": []}
        )

    def store(self):
        return {n: [m["subject"] for m in b["msgs"]] for n, b in self.script.boxes.items()}

    def caps(self, auth):
        s = self.script
        if auth:
            return s.caps_auth or (
                [
                    "IMAP4rev1",
                    "LITERAL+",
                    "ID",
                    "ENABLE",
                    "NAMESPACE",
                    "IDLE",
                    "UIDPLUS",
                    "MOVE",
                    "UNSELECT",
                    "SPECIAL-USE",
                ]
            )
        return s.caps or ["IMAP4rev1", "SASL-IR", "AUTH=PLAIN"] + [
            x for x in (s.caps_auth or []) if x.upper() == "LITERAL+"
        ]

    def command(self, f, send):
        line = f.readline()
        if not line:
            raise EOFError
        show = line.rstrip(b"\r\n")
        while True:
            m = re.search(rb"\{(\d+)(\+?)\}$", show)
            if not m:
                return show
            if not m[2]:
                send(b"+ go ahead\r\n")
            lit = f.read(int(m[1]))
            rest = f.readline().rstrip(b"\r\n")
            show = show[: m.start()] + b"\x00" + base64.b64encode(lit) + b"\x00" + rest
            if re.search(rb"\{\d+\+?\}$", rest):
                continue
            return show

    def session(self, c, f):
        send = c.sendall
        auth = False
        box = None
        s = self.script
        with self.lock:
            for k, n, m in s.later:
                if self.connects >= k and m not in s.boxes[n]["msgs"]:
                    s.boxes[n]["msgs"].append(m)
                    s.boxes[n]["uidnext"] = m["uid"] + 1
        send(("* OK [CAPABILITY %s] ready\r\n" % " ".join(self.caps(False))).encode())
        while True:
            raw = self.command(f, send)
            lits = []

            def lit(m):
                lits.append(base64.b64decode(m[1]))
                return b'"' + lits[-1].replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'

            full = re.sub(rb"\x00([A-Za-z0-9+/=]*)\x00", lit, raw)
            tag, _, line = full.decode("utf-8", "surrogateescape").partition(" ")
            self.seen(line if not line.upper().startswith(("LOGIN", "AUTHENTICATE")) else line.split(" ")[0])
            ok = lambda t="done": send(("%s OK %s\r\n" % (tag, t)).encode())
            no = lambda t="no": send(("%s NO %s\r\n" % (tag, t)).encode())
            for b in s.before:
                if b[0].match(line):
                    b[3] += 1
                    if not b[1] or b[1] == b[3]:
                        send(b[2] + b"\r\n")
            block = self.find(line)
            if block is not None:
                r = self.play(block, send, tag, lambda: self.append(line, lits))
                if r is None:
                    return
                if line.upper() == "IDLE" and r:
                    if f.readline() == b"":
                        return
                    ok("IDLE terminated")
                    continue
                if r:
                    continue
            word = line.split(" ")[0].upper()
            rest = line[len(word) + 1 :]
            up = line.upper()
            if word == "CAPABILITY":
                send(("* CAPABILITY %s\r\n" % " ".join(self.caps(auth))).encode())
                ok()
            elif word in ("LOGIN", "AUTHENTICATE"):
                if word == "AUTHENTICATE" and len(rest.split(" ")) < 2:
                    send(b"+ \r\n")
                    f.readline()
                auth = True
                cl = " ".join(self.caps(True))
                if s.style == "untagged":
                    send(("* CAPABILITY %s\r\n" % cl).encode())
                    ok("LOGIN completed")
                elif s.style == "code":
                    ok("[CAPABILITY %s] welcome" % cl)
                else:
                    ok()
            elif word == "LOGOUT":
                send(b"* BYE bye\r\n")
                ok()
                return
            elif word in ("NOOP", "CHECK", "SUBSCRIBE"):
                ok()
            elif word == "ID":
                send(b"* ID NIL\r\n")
                ok()
            elif word == "ENABLE":
                send(b"* ENABLED\r\n")
                ok()
            elif word == "NAMESPACE":
                send(b'* NAMESPACE (("" "/")) NIL NIL\r\n')
                ok()
            elif word in ("LIST", "LSUB", "XLIST"):
                if rest.endswith('""') and not rest.startswith("("):
                    send(b'* LIST (\\Noselect) "/" ""\r\n')
                else:
                    pat = unq(re.sub(r"\s+RETURN\s+\(.*\)$", "", rest, flags=re.I).split(" ")[-1].strip('"'))
                    if s.lists:
                        for l in s.lists:
                            if pat in ("*", "%") or pat.encode("utf-8", "surrogateescape") in l:
                                send(b"* " + word.encode() + b" " + l + b"\r\n")
                    else:
                        for n, b in s.boxes.items():
                            if fnmatch.fnmatch(n, pat.replace("%", "*")) or n == pat:
                                send(('* %s (%s) "/" ' % (word, b["attrs"])).encode() + q(n) + b"\r\n")
                ok()
            elif word in ("SELECT", "EXAMINE"):
                n = self.name(rest)
                if n not in s.boxes:
                    box = None
                    no("[NONEXISTENT] Unknown Mailbox")
                    continue
                box = s.boxes[n]
                for l in (
                    "* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)",
                    "* %d EXISTS" % len(box["msgs"]),
                    "* 0 RECENT",
                    "* OK [UIDVALIDITY %d] ok" % box["uidvalidity"],
                    "* OK [UIDNEXT %d] ok" % box["uidnext"],
                    "* OK [PERMANENTFLAGS (%s)] ok"
                    % (box["permflags"] or "\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*"),
                ):
                    send(l.encode() + b"\r\n")
                ok("[READ-%s] selected" % ("ONLY" if word == "EXAMINE" or box["readonly"] else "WRITE"))
            elif word == "STATUS":
                n = self.name(rest[: rest.rindex("(")].strip())
                b = s.boxes.get(n)
                if not b:
                    no("[NONEXISTENT] no")
                    continue
                v = {
                    "MESSAGES": len(b["msgs"]),
                    "RECENT": 0,
                    "UIDNEXT": b["uidnext"],
                    "UIDVALIDITY": b["uidvalidity"],
                    "UNSEEN": sum("\\Seen" not in m["flags"] for m in b["msgs"]),
                }
                send(
                    b"* STATUS "
                    + q(n)
                    + (
                        " (%s)\r\n"
                        % " ".join(
                            "%s %d" % (k, v[k]) for k in rest[rest.rindex("(") + 1 : -1].upper().split() if k in v
                        )
                    ).encode()
                )
                ok()
            elif word == "CREATE":
                s.boxes.setdefault(
                    self.name(rest),
                    {"uidvalidity": 50, "uidnext": 1, "permflags": None, "attrs": "", "readonly": False, "msgs": []},
                )
                ok()
            elif word == "APPEND":
                r = self.append(line, lits)
                if r is None:
                    no("[TRYCREATE] no such mailbox")
                else:
                    ok("[APPENDUID %d %d] done" % r if "UIDPLUS" in [x.upper() for x in self.caps(True)] else "done")
            elif word == "IDLE":
                send(b"+ idling\r\n")
                if f.readline() == b"":
                    return
                ok()
            elif word in ("CLOSE", "EXPUNGE") and box is not None:
                for i in range(len(box["msgs"]), 0, -1):
                    if "\\Deleted" in box["msgs"][i - 1]["flags"]:
                        del box["msgs"][i - 1]
                        if word == "EXPUNGE":
                            send(b"* %d EXPUNGE\r\n" % i)
                if word == "CLOSE":
                    box = None
                ok()
            elif word == "UNSELECT":
                box = None
                ok()
            elif box is not None and re.match(r"(UID )?(FETCH|SEARCH|SORT|STORE|COPY|MOVE|EXPUNGE) ", up):
                uidm = up.startswith("UID ")
                l2 = line[4:] if uidm else line
                op = l2.split(" ")[0].upper()
                arg = l2[len(op) + 1 :]
                if op == "SEARCH":
                    send(
                        b"* SEARCH"
                        + b"".join(
                            b" %d" % (m["uid"] if uidm else i)
                            for i, m in enumerate(box["msgs"], 1)
                            if self.hit(m, i, arg)
                        )
                        + b"\r\n"
                    )
                    ok()
                    continue
                sets, _, arg = arg.partition(" ")
                ms = self.pick(box, sets, uidm)
                if op == "FETCH":
                    self.fetch(send, ms, arg, uidm)
                    ok()
                elif op == "STORE":
                    m2 = re.match(r"([+-]?)FLAGS(\.SILENT)? \(?(.*?)\)?$", arg, re.I)
                    if not m2:
                        send(("%s BAD store\r\n" % tag).encode())
                        continue
                    fl = set(m2[3].split())
                    for i, m in ms:
                        m["flags"] = m["flags"] | fl if m2[1] == "+" else m["flags"] - fl if m2[1] == "-" else fl
                        if not m2[2]:
                            send(
                                (
                                    "* %d FETCH (UID %d FLAGS (%s))\r\n" % (i, m["uid"], " ".join(sorted(m["flags"])))
                                ).encode()
                            )
                    ok()
                elif op in ("COPY", "MOVE"):
                    t = s.boxes.get(self.name(arg))
                    if t is None:
                        no("[TRYCREATE] no such mailbox")
                        continue
                    src = [m["uid"] for _, m in ms]
                    dst = []
                    for _, m in ms:
                        t["msgs"].append(dict(m, uid=t["uidnext"], flags=set(m["flags"])))
                        dst.append(t["uidnext"])
                        t["uidnext"] += 1
                    code = (
                        "[COPYUID %d %s %s] " % (t["uidvalidity"], ",".join(map(str, src)), ",".join(map(str, dst)))
                        if src and "UIDPLUS" in [x.upper() for x in self.caps(True)]
                        else ""
                    )
                    if op == "MOVE":
                        if code:
                            send(("* OK %sok\r\n" % code).encode())
                            code = ""
                        for i, m in sorted(ms, reverse=True, key=lambda x: x[0]):
                            box["msgs"].remove(m)
                            send(b"* %d EXPUNGE\r\n" % i)
                    ok(code + "done")
                elif op == "EXPUNGE":
                    for i, m in sorted(ms, reverse=True, key=lambda x: x[0]):
                        if "\\Deleted" in m["flags"]:
                            box["msgs"].remove(m)
                            send(b"* %d EXPUNGE\r\n" % i)
                    ok()
                else:
                    send(("%s BAD unknown\r\n" % tag).encode())
            else:
                send(("%s BAD unknown or wrong state\r\n" % tag).encode())

    def name(self, s):
        s = s.strip()
        s = unq(s[1:-1]) if s.startswith('"') and s.endswith('"') and len(s) > 1 else s
        return "INBOX" if s.upper() == "INBOX" else s

    def append(self, line, lits):
        m = re.match(r'APPEND ("(?:[^"\\]|\\.)*"|\S+)(?: \(([^)]*)\))?', line, re.I)
        n = self.name(m[1])
        b = self.script.boxes.get(n)
        data = lits[-1] if lits else b""
        self.appends.append({"mailbox": n, "flags": (m[2] or "").split(), "data": data})
        if b is None:
            return None
        uid = b["uidnext"]
        b["uidnext"] += 1
        b["msgs"].append(
            {
                "uid": uid,
                "flags": set((m[2] or "").split()),
                "raw": data,
                "date": "03-Mar-2026 10:00:00 +0000",
                "subject": str(email.message_from_bytes(data)["subject"]),
            }
        )
        return b["uidvalidity"], uid

    def pick(self, box, sets, uidm):
        ms = list(enumerate(box["msgs"], 1))
        key = (lambda x: x[1]["uid"]) if uidm else (lambda x: x[0])
        top = max(map(key, ms), default=0)
        out = []
        for r in sets.split(","):
            a, _, b = r.partition(":")
            a = top if a == "*" else int(a or 0)
            b = a if not b and not _ else top if b == "*" else int(b)
            lo, hi = min(a, b), max(a, b)
            out += [x for x in ms if lo <= key(x) <= hi and x not in out]
        return sorted(out, key=lambda x: x[0])

    def hit(self, m, i, crit):
        u = crit.upper()
        if "UNSEEN" in u and "\\Seen" in m["flags"]:
            return False
        r = re.search(r"\bUID ([\d:*,]+)", u)
        if r and m["uid"] not in [
            x["uid"]
            for _, x in self.pick(
                {"msgs": [y for b in self.script.boxes.values() for y in b["msgs"] if m in b["msgs"]]}, r[1], True
            )
        ]:
            return False
        for k in ("SUBJECT", "TEXT", "BODY", "FROM"):
            r = re.search(k + r' (?:"((?:[^"\\]|\\.)*)"|(\S+))', crit, re.I)
            if (
                r
                and (unq(r[1]) if r[1] is not None else r[2]).lower()
                not in (m["subject"] if k == "SUBJECT" else m["raw"].decode("utf-8", "replace")).lower()
            ):
                return False
        return True

    def fetch(self, send, ms, arg, uidm):
        want = [
            x
            for x in re.findall(
                r"(?:BODY(?:\.PEEK)?|BINARY(?:\.PEEK)?)\[[^\]]*\](?:<[\d.]+>)?|[A-Z0-9.-]+", arg.upper()
            )
        ]
        if want and want[0] in ("ALL", "FAST", "FULL"):
            want = ["FLAGS", "INTERNALDATE", "RFC822.SIZE"] + ([] if want[0] == "FAST" else ["ENVELOPE"])
        if uidm and "UID" not in want:
            want.insert(0, "UID")
        for i, m in ms:
            out = []
            p = email.message_from_bytes(m["raw"])
            for w in want:
                part = re.match(r"(BODY|BINARY)(\.PEEK)?\[(.*)\](<[\d.]+>)?$", w)
                key = "BODY[%s]" % part[3] if part else w
                if (m["uid"], key) in self.script.items:
                    v = self.script.items[m["uid"], key]
                    if v is None:
                        continue
                elif w == "UID":
                    v = b"%d" % m["uid"]
                elif w == "FLAGS":
                    v = ("(%s)" % " ".join(sorted(m["flags"]))).encode()
                elif w == "INTERNALDATE":
                    v = q(m["date"])
                elif w == "RFC822.SIZE":
                    v = b"%d" % len(m["raw"])
                elif w == "ENVELOPE":
                    v = envelope(p)
                elif w in ("BODYSTRUCTURE", "BODY"):
                    v = structure(p)
                elif part or w.startswith("RFC822"):
                    sec = (
                        part[3] if part else {"RFC822": "", "RFC822.HEADER": "HEADER", "RFC822.TEXT": "TEXT"}.get(w, "")
                    )
                    d = self.section(m["raw"], p, sec)
                    if not w.startswith("BODY.PEEK") and not sec.startswith("HEADER"):
                        m["flags"].add("\\Seen")
                    if d is None:
                        v = b"NIL"
                    else:
                        if part and part[4]:
                            a, _, l = part[4][1:-1].partition(".")
                            d = d[int(a) : int(a) + int(l or len(d))]
                            key += "<%s>" % a
                        v = b"{%d}\r\n" % len(d) + d
                else:
                    continue
                out.append((key.encode() if part else w.encode()) + b" " + v)
            send(b"* %d FETCH (" % i + b" ".join(out) + b")\r\n")

    def section(self, raw, p, sec):
        h, sep, t = raw.partition(b"\r\n\r\n")
        if sec == "":
            return raw
        if sec == "HEADER":
            return h + sep
        if sec == "TEXT":
            return t
        if sec.startswith("HEADER.FIELDS"):
            names = re.search(r"\((.*)\)", sec)[1].lower().replace('"', "").split()
            inv = ".NOT" in sec
            fields = re.findall(rb"^[^\s:]+[ \t]*:.*?(?:\r\n(?=[^ \t])|\Z)", h + b"\r\n", re.S | re.M)
            return (
                b"".join(
                    f if f.endswith(b"\r\n") else f + b"\r\n"
                    for f in fields
                    if (f.split(b":")[0].strip().decode("latin-1").lower() in names) != inv
                )
                + b"\r\n"
            )
        cur = p
        for n in [x for x in sec.split(".") if x.isdigit()]:
            if cur.get_content_type() == "message/rfc822" and cur.is_multipart():
                cur = cur.get_payload(0)
            if cur.is_multipart() and cur.get_content_maintype() == "multipart":
                if int(n) > len(cur.get_payload()):
                    return None
                cur = cur.get_payload(int(n) - 1)
            elif n != "1":
                return None
        s = cur.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        hh, ss, tt = s.partition(b"\r\n\r\n")
        return hh + ss if sec.endswith("MIME") or sec.endswith("HEADER") else tt


class SmtpPlayer(Player):
    FILE = "smtp.txt"

    def __init__(self, *a):
        super().__init__(*a)
        self.transactions = []

    def session(self, c, f):
        send = c.sendall
        mail = None
        rcpt = []
        send(b"220 mx.example.org ESMTP ready\r\n")
        while True:
            line = f.readline()
            if not line:
                return
            line = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
            self.seen(line if not line.upper().startswith("AUTH") else "AUTH")
            up = line.upper()
            block = self.find(line) if line != "." else None
            if block is not None:
                r = self.play(block, send, "", lambda: None)
                if r is None:
                    return
                if r:
                    continue
            if up.startswith("EHLO"):
                l = ["mx.example.org"] + self.script.ehlo
                send("".join("250%s%s\r\n" % ("-" if i < len(l) - 1 else " ", x) for i, x in enumerate(l)).encode())
            elif up.startswith("HELO"):
                send(b"250 mx.example.org\r\n")
            elif up.startswith("MAIL"):
                mail = line
                rcpt = []
                send(b"250 2.1.0 ok\r\n")
            elif up.startswith("RCPT"):
                rcpt.append(line)
                send(b"250 2.1.5 ok\r\n")
            elif up.startswith("DATA"):
                if not rcpt:
                    send(b"503 5.5.1 no valid recipients\r\n")
                    continue
                send(b"354 go\r\n")
                data = b""
                while True:
                    l = f.readline()
                    if l in (b".\r\n",):
                        break
                    if not l:
                        return
                    data += l[1:] if l.startswith(b".") else l
                self.transactions.append({"mail": mail, "rcpts": rcpt, "data": data, "connect": self.connects})
                block = self.find(".")
                if block is not None:
                    r = self.play(block, send, "", lambda: None)
                    if r is None:
                        return
                    if r:
                        continue
                send(b"250 2.0.0 queued\r\n")
            elif up.startswith("AUTH"):
                send(b"235 2.7.0 ok\r\n") if any(x.startswith("AUTH") for x in self.script.ehlo) else send(
                    b"503 5.5.1 no\r\n"
                )
            elif up.startswith("QUIT"):
                send(b"221 bye\r\n")
                return
            elif up.startswith(("RSET", "NOOP")):
                send(b"250 ok\r\n")
            else:
                send(b"502 5.5.1 unknown\r\n")
