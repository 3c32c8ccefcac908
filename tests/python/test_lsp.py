"""kenaz lsp, driven by the client of pygls, and by hand where a client would be too polite."""
import asyncio
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

KENAZ = pathlib.Path(os.environ["KENAZ_BIN"]) / "kenaz"
LIB = """-- | A point
-- of the plane.
type point = {x: f32, y: f32}

-- | The sum of an array.
def total [n] (xs: [n]i32): i32 = i32.sum xs
"""
MAIN = """module lib = import "lib"

-- | What clients call.
entry main (xs: []i32) =
  let whole = lib.total xs
  in whole + 1
"""


class Client(LanguageClient):
    def __init__(self):
        super().__init__("kenaz-tests", "1")
        self.found = {}  # by URI: lists of diagnostics
        self.news = asyncio.Condition()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def publish(params: lsp.PublishDiagnosticsParams):
            async with self.news:
                self.found[params.uri] = params.diagnostics
                self.news.notify_all()

    async def codes(self, uri, expected):
        """Waits until the file has these diagnostics, and gives them."""
        def there():
            return [d.code for d in self.found.get(uri, ["none yet"]) if d != "none yet"] == expected \
                and uri in self.found
        async with self.news:
            try:
                await asyncio.wait_for(self.news.wait_for(there), 60)
            except TimeoutError:
                raise AssertionError(f"{self.found.get(uri)} instead of {expected}") from None
        return self.found[uri]


class Editor(unittest.IsolatedAsyncioTestCase):
    ENCODINGS = None

    async def asyncSetUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kenaz lsp "))
        self.write("lib.fut", LIB)
        self.client = Client()
        await self.client.start_io(str(KENAZ), "lsp")
        general = lsp.GeneralClientCapabilities(position_encodings=self.ENCODINGS)
        self.result = await self.client.initialize_async(lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(general=general), root_uri=self.folder.as_uri()))
        self.client.initialized(lsp.InitializedParams())
        self.versions = {}

    async def asyncTearDown(self):
        await self.client.shutdown_async(None)
        self.client.exit(None)
        self.assertEqual(await asyncio.wait_for(self.client._server.wait(), 60), 0)
        await self.client.stop()
        shutil.rmtree(self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, name, text):
        self.versions[name] = 1
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(
            lsp.TextDocumentItem(self.uri(name), "futhark", 1, text)))

    def change(self, name, *changes):
        """Each a whole text, or (line, column, line, column, text)."""
        self.versions[name] += 1
        events = []
        for c in changes:
            if isinstance(c, str):
                events.append(lsp.TextDocumentContentChangeWholeDocument(c))
            else:
                where = lsp.Range(lsp.Position(*c[0:2]), lsp.Position(*c[2:4]))
                events.append(lsp.TextDocumentContentChangePartial(where, c[4]))
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)), events))

    def close(self, name):
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(
            lsp.TextDocumentIdentifier(self.uri(name))))

    def at(self, name, line, column):
        return {"text_document": lsp.TextDocumentIdentifier(self.uri(name)),
                "position": lsp.Position(line, column)}

    async def hover(self, *where):
        found = await self.client.text_document_hover_async(lsp.HoverParams(**self.at(*where)))
        return found and found.contents.value

    async def definition(self, *where):
        found = await self.client.text_document_definition_async(
            lsp.DefinitionParams(**self.at(*where)))
        if not found:
            return None
        start = found.range.start
        return found.uri.rsplit("/", 1)[-1], start.line, start.character

    async def complete(self, *where):
        found = await self.client.text_document_completion_async(
            lsp.CompletionParams(**self.at(*where)))
        return {item.label: item for item in found.items}


class Session(Editor):
    async def test_diagnostics_follow_the_text(self):
        main, lib = self.uri("main.fut"), self.uri("lib.fut")
        self.open("main.fut", MAIN)
        await self.client.codes(main, [])
        self.change("main.fut", (5, 5, 5, 10, "whol"))
        [error] = await self.client.codes(main, ["unknown-name"])
        self.assertEqual(error.range, lsp.Range(lsp.Position(5, 5), lsp.Position(5, 9)))
        self.assertEqual(error.severity, lsp.DiagnosticSeverity.Error)
        self.assertIn('Did you mean "whole"?', error.message)
        self.change("main.fut", (5, 9, 5, 9, "e"))
        await self.client.codes(main, [])
        # An import is what the editor has of it, then what the disk has.
        self.open("lib.fut", LIB.replace("total", "sum"))
        await self.client.codes(main, ["unknown-name"])
        await self.client.codes(lib, [])
        self.change("lib.fut", LIB + "def bad: i32 = true\n")
        await self.client.codes(lib, ["type"])
        self.close("lib.fut")
        await self.client.codes(lib, [])
        await self.client.codes(main, [])
        self.change("main.fut", "def f = (\n", (0, 8, 0, 9, "["))
        await self.client.codes(main, ["syntax"])
        self.close("main.fut")
        await self.client.codes(main, [])

    async def test_hover(self):
        self.open("main.fut", MAIN)
        self.assertEqual(await self.hover("main.fut", 4, 19),
                         "```futhark\ndef total [n] : [n]i32 -> i32\n```\n\nThe sum of an array.")
        self.assertEqual(await self.hover("main.fut", 4, 15), "```futhark\nmodule lib\n```")
        self.assertEqual(await self.hover("main.fut", 5, 6), "```futhark\ndef whole : i32\n```")
        self.assertIn("What clients call.", await self.hover("main.fut", 3, 8))
        self.assertIsNone(await self.hover("main.fut", 1, 0))
        # Around an error, and in text that was typed just now.
        self.change("main.fut", MAIN + "def other = nonsense (\ndef last = main\n")
        self.assertIn("-> i32", await self.hover("main.fut", 7, 12))

    async def test_definitions(self):
        self.open("main.fut", MAIN)
        self.assertEqual(await self.definition("main.fut", 4, 19), ("lib.fut", 5, 4))
        self.assertEqual(await self.definition("main.fut", 5, 5), ("main.fut", 4, 6))
        self.assertEqual(await self.definition("main.fut", 4, 14), ("main.fut", 0, 7))
        self.open("lib.fut", LIB)
        self.assertIsNone(await self.definition("lib.fut", 5, 40))  # of the prelude

    async def test_completion(self):
        self.open("main.fut", MAIN)
        self.change("main.fut", (5, 5, 5, 14, "lib."))
        names = await self.complete("main.fut", 5, 9)
        self.assertEqual(sorted(names), ["point", "total"])
        self.assertEqual(names["total"].detail, "def total [n] : [n]i32 -> i32")
        self.assertEqual(names["total"].kind, lsp.CompletionItemKind.Function)
        self.assertEqual(names["total"].documentation, "The sum of an array.")
        self.assertEqual(names["point"].kind, lsp.CompletionItemKind.Struct)
        self.change("main.fut", (5, 5, 5, 9, "x"))
        names = await self.complete("main.fut", 5, 6)
        self.assertEqual(names["xs"].detail, "def xs : []i32")
        self.assertLess({"whole", "xs", "map", "lib", "f32"}, names.keys())
        self.assertLess(names["whole"].sort_text, names["map"].sort_text)

    async def test_symbols(self):
        self.open("main.fut", MAIN)
        found = await self.client.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(self.uri("main.fut"))))
        self.assertEqual([(s.name, s.kind, s.selection_range.start.line) for s in found],
                         [("lib", lsp.SymbolKind.Module, 0), ("main", lsp.SymbolKind.Function, 3)])

    async def test_columns_are_utf16_units(self):
        self.assertEqual(self.result.capabilities.position_encoding, "utf-16")
        self.open("main.fut", 'def s = "\U0001F600\u00e4" def x = y\n')
        [error] = await self.client.codes(self.uri("main.fut"), ["unknown-name"])
        self.assertEqual(error.range.start.character, 22)


class Utf8(Editor):
    ENCODINGS = ["utf-8", "utf-16"]

    async def test_columns_are_bytes(self):
        self.assertEqual(self.result.capabilities.position_encoding, "utf-8")
        self.open("main.fut", 'def s = "\U0001F600\u00e4" def x = y\n')
        [error] = await self.client.codes(self.uri("main.fut"), ["unknown-name"])
        self.assertEqual(error.range.start.character, 25)


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def request(number, method, params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


class Rude(unittest.TestCase):
    """Clients that do not keep to the protocol."""

    def talk(self, data):
        """The replies to these bytes, and the exit code."""
        done = subprocess.run([KENAZ, "lsp"], input=data, capture_output=True, timeout=120)
        replies, rest = [], done.stdout
        while rest:
            head, _, rest = rest.partition(b"\r\n\r\n")
            size = int(head.split(b":")[1])
            replies.append(json.loads(rest[:size]))
            rest = rest[size:]
        self.assertGreaterEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return replies, done.returncode

    def test_order(self):
        replies, code = self.talk(
            frame(request(1, "textDocument/hover")) + frame(request(2, "initialize")) +
            frame(request(3, "initialize")) + frame(request(4, "no/such")) +
            frame(request(5, "textDocument/hover")) + frame(request(6, "shutdown")) +
            frame(request(7, "textDocument/hover")) + frame({"jsonrpc": "2.0", "method": "exit"}))
        self.assertEqual([(r["id"], r.get("error", {}).get("code")) for r in replies],
                         [(1, -32002), (2, None), (3, -32600), (4, -32601), (5, -32602), (6, None),
                          (7, -32600)])
        self.assertEqual(code, 0)

    def test_malformed_messages(self):
        replies, code = self.talk(
            b"nonsense\r\n\r\nContent-Length: -5\r\n\r\n" + b"x" * 100000 + b"\r\n\r\n" +
            frame(b"{") + frame(b"[]") + frame(b"\xff") + frame(b"[" * 100000) +
            frame({"jsonrpc": "2.0", "id": [1], "method": 5}) + frame(request(2, "initialize")) +
            b"Content-Length: 99999999999999999999\r\n\r\n" + frame(request(3, "shutdown")) +
            b"Content-Length: 10\r\n\r\nshort")
        self.assertEqual([(r["id"], r.get("error", {}).get("code")) for r in replies],
                         [(None, -32700), (None, -32600), (None, -32700), (None, -32700),
                          (None, -32600), (2, None), (3, None)])
        self.assertEqual(code, 1)  # it ended without `exit`

    def test_mutated_sessions(self):
        """What is no protocol any more is survived: whatever came before, a new request is answered."""
        text = {"textDocument": {"uri": "file:///tmp/a.fut", "languageId": "futhark", "version": 1,
                                 "text": LIB}}
        where = {"textDocument": {"uri": "file:///tmp/a.fut"},
                 "position": {"line": 5, "character": 6}}
        edit = {"textDocument": {"uri": "file:///tmp/a.fut", "version": 2}, "contentChanges": [
            {"range": {"start": {"line": 1, "character": 3}, "end": {"line": 4, "character": 0}},
             "text": "def"}]}
        messages = [
            {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": text},
            request(2, "textDocument/hover", where), request(3, "textDocument/completion", where),
            {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": edit},
            request(4, "textDocument/definition", where),
            request(5, "textDocument/documentSymbol", where)]
        bodies = [json.dumps(m) for m in messages]
        values = ["null", "-1", "1e300", "99999999999999999999", '"x"', "[]", "{}", '"\\ud800"']
        chance = random.Random(3)
        stream = frame(request(1, "initialize"))
        for _ in range(30):
            for body in bodies:
                for _ in range(chance.randrange(3)):
                    at = chance.randrange(len(body))
                    cut = chance.randrange(12)
                    body = body[:at] + chance.choice([*values, body[at:at + 9]]) + body[at + cut:]
                stream += frame(body.encode(errors="replace"))
        stream += frame(request("last", "textDocument/hover", where))
        stream += frame(request("end", "shutdown")) + frame({"jsonrpc": "2.0", "method": "exit"})
        replies, code = self.talk(stream)
        self.assertEqual(code, 0)
        self.assertEqual([r["id"] for r in replies if r.get("id") in ("last", "end")],
                         ["last", "end"])


if __name__ == "__main__":
    unittest.main()
