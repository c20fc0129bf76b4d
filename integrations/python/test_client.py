"""Talks to the real program, which MEMKERNEL names."""

import asyncio
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import typing
import unittest
import venv
import zipfile
from unittest import mock

import memkernel

BINARY = os.environ.get("MEMKERNEL", "")
SERVER = os.environ.get("MEMKERNEL_SERVER", "")
MODEL = "claude-sonnet-4-6"

# What providers say of 1,000 tokens of input, 700 of them from the cache.
BILLS = {
    "anthropic": {"input_tokens": 300, "cache_read_input_tokens": 700, "output_tokens": 9, "server_tool_use": None},
    "chat": {"prompt_tokens": 1000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 700}},
    "responses": {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 700}, "output_tokens": 9},
    "gemini": {"promptTokenCount": 1000, "cachedContentTokenCount": 700, "candidatesTokenCount": 9},
    "gemini's library": {"prompt_token_count": 1000, "cached_content_token_count": 700, "candidates_token_count": 9, "thoughts_token_count": None},
    "deepseek": {"prompt_tokens": 1000, "completion_tokens": 9, "prompt_cache_hit_tokens": 700, "prompt_cache_miss_tokens": 300},
}


class Dumped:
    """An object of a provider's library."""

    def __init__(self, members):
        self._members = members

    def model_dump(self):
        return self._members


@unittest.skipUnless(BINARY, "MEMKERNEL names no program")
class ClientTest(unittest.TestCase):
    def setUp(self):
        self.workspace = tempfile.mkdtemp(prefix="mk")
        self.addCleanup(shutil.rmtree, self.workspace, True)
        self.client = self.connect()
        self.addCleanup(self.end)

    def connect(self):
        return memkernel.connect(self.workspace, binary=BINARY, idle="1s", start_timeout=300)

    def end(self):
        if not self.client.closed:
            try:
                self.client.shutdown()
            except memkernel.MemkernelError:
                pass
        self.client.close()

    def test_session_sends_what_is_new(self):
        self.assertEqual(self.client.server["protocol"], 1)
        sent = []
        call = self.client.call

        def watched(method, params=None, **options):
            sent.append((params or {}).get("conversation", {}))
            return call(method, params, **options)

        self.client.call = watched
        session = self.client.session("s", model=MODEL, private=True, dialect="openai")
        messages = []
        for i in range(5):
            messages.append({"role": "user", "content": f"question {i} é\u2028", "own": {"i": i}})
            plan = session.plan(list(messages))
            self.assertEqual(plan["messages"], messages)
            messages.append({"role": "assistant", "content": f"answer {i}"})
            self.assertEqual(session.observe_turn(list(messages), plan_id=plan["plan_id"])["outcome"], "committed")
        self.assertEqual([len(c["messages"]) for c in sent], [1] * 10)
        self.assertTrue(all("base" in c for c in sent[1:]))

    def test_a_model_writes_down_what_should_outlive_a_cut(self):
        session = self.client.session("w", model=MODEL, private=True, dialect="openai")
        messages = [{"role": "user", "content": "the heron moves to pier nine"}]
        asked = []
        done = session.write_down(messages, lambda ask: asked.append(ask) or "- [decision] The heron moves to pier nine.")
        self.assertIn("heron", asked[0]["prompt"])
        self.assertGreater(asked[0]["max_tokens"], 0)
        self.assertEqual(done["line"], f"flush: 1 entry to {done['path']}")
        self.assertIsNone(session.write_down(messages, lambda ask: self.fail("nothing is new")))

    def test_what_was_lost_is_sent_again(self):
        messages = [{"role": "user", "content": "hello"}]
        first = self.client.session("s", model=MODEL)
        first.plan(messages)
        self.client.session("s", model=MODEL).plan(messages)  # moves the base on
        messages.append({"role": "assistant", "content": "good day"})
        self.assertEqual(first.observe_turn(messages)["outcome"], "committed")
        self.client.shutdown()
        self.client._connection.reader.join(10)
        with self.assertRaises(memkernel.MemkernelError) as caught:
            self.client.status()
        self.assertEqual(caught.exception.code, "CLOSED")
        self.client = self.connect()
        self.assertEqual(self.client.session("s", model=MODEL).observe_turn(messages)["outcome"], "duplicate")

    def kill(self):
        with open(os.path.join(self.workspace, ".memkernel", "serve.json"), encoding="utf-8") as f:
            os.kill(json.load(f)["pid"], signal.SIGKILL)

    def test_a_daemon_that_is_killed_is_started_anew(self):
        session = self.client.session("s", model=MODEL, private=True, dialect="openai")
        messages = []
        for i in range(6):
            messages.append({"role": "user", "content": f"question {i}"})
            self.assertEqual(len(session.plan(list(messages))["messages"]), len(messages))
            messages.append({"role": "assistant", "content": f"answer {i}"})
            if i % 2:
                self.kill()  # this turn's delivery finds nobody
            observed = session.observe_turn(list(messages))
            self.assertEqual(observed["turns"], i + 1)
        self.assertFalse(self.client.closed)

    def test_without_reconnect_a_lost_connection_is_an_error(self):
        with memkernel.connect(self.workspace, binary=BINARY, reconnect=False) as client:
            self.kill()
            client._connection.reader.join(10)
            self.assertTrue(client.closed)
            with self.assertRaises(memkernel.MemkernelError) as caught:
                client.status()
            self.assertEqual(caught.exception.code, "CLOSED")

    def test_awaited(self):
        async def run():
            async with await memkernel.connect_async(self.workspace, binary=BINARY, idle="1s", start_timeout=300) as client:
                sessions = [client.session(f"a{i}", model=MODEL, private=True, dialect="openai") for i in range(5)]

                async def talk(i):
                    messages = []
                    for turn in range(4):
                        messages.append({"role": "user", "content": f"question {turn} of {i}"})
                        plan = await sessions[i].plan(list(messages))
                        self.assertEqual([m for m in plan["messages"] if m in messages], messages)
                        messages.append({"role": "assistant", "content": "answer"})
                        if i == turn == 2:
                            self.kill()  # everybody's calls are lost, and delivered again
                        observed = await sessions[i].observe_turn(list(messages), plan_id=plan["plan_id"])
                        self.assertEqual(observed["turns"], turn + 1)

                await asyncio.gather(*(talk(i) for i in range(5)))
                self.assertEqual(len((await client.status())["sessions"]), 5)
                await client.remember("We deploy on Thursdays.", session_key="a1", private=True)
                stages = []
                await client.reindex(on_progress=lambda p: stages.append(p["stage"]))
                self.assertIn("index", stages)
                self.assertEqual(len((await client.search("deploy Thursdays", private=True))["results"]), 1)
                with self.assertRaises(memkernel.MemkernelError) as caught:
                    await client.call("search", {"quary": "x"})
                self.assertEqual(caught.exception.code, "INVALID_PARAMS")
                check = asyncio.ensure_future(client.check())
                await asyncio.sleep(0)
                check.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await check
                done = await sessions[0].write_down([{"role": "user", "content": "the heron moves to pier nine"}], self.wrote)
                self.assertEqual(done["items"], 1)
                await client.shutdown()
                with self.assertRaises(memkernel.MemkernelError):
                    await client.status()

        asyncio.run(run())

    async def wrote(self, ask):
        return "- [decision] The heron moves to pier nine."

    def test_the_methods_are_typed(self):
        """Every method has its parameters as keywords, and a name that is none is refused here."""
        with self.assertRaises(TypeError):
            self.client.search("x", max_result=3)
        hints = typing.get_type_hints(memkernel.Client.plan)
        self.assertEqual(hints["return"].__name__, "Planned")
        self.assertIn("conversation", hints)
        for name in self.client.server["capabilities"]["methods"]:
            if name != "initialize":
                for client in (memkernel.Client, memkernel.AsyncClient):
                    self.assertTrue(typing.get_type_hints(getattr(client, name.replace(".", "_"))), name)

    def test_the_wheel_installs_and_works(self):
        """As somebody has it who installs what is published; without pip, whose own
        installation takes most of the time, what is in the wheel is unpacked."""
        here = os.path.dirname(os.path.abspath(__file__))
        wheels, env = os.path.join(self.workspace, "wheels"), os.path.join(self.workspace, "env")
        os.mkdir(wheels)
        subprocess.run([sys.executable, "-B", "-c", f"import build_backend; build_backend.build_wheel({wheels!r})"], cwd=here, check=True)
        wheel = os.path.join(wheels, os.listdir(wheels)[0])
        python, path = sys.executable, env
        if os.environ.get("MEMKERNEL_LONG"):
            try:
                venv.create(env, with_pip=True)
            except Exception as err:
                self.skipTest(f"python has no venv with pip here: {err}")
            python, path = os.path.join(env, "bin", "python"), ""
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], check=True)
        else:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(env)
        script = (
            "import asyncio, memkernel, os\n"
            "assert os.path.dirname(memkernel.__file__).startswith(os.environ['ENV']), memkernel.__file__\n"
            "assert os.path.exists(os.path.join(os.path.dirname(memkernel.__file__), 'py.typed'))\n"
            "where = dict(workspace=os.environ['WORKSPACE'], binary=os.environ['MEMKERNEL'])\n"
            "with memkernel.connect(**where) as client:\n"
            "    client.remember('We deploy on Thursdays.', session_key='s', private=True)\n"
            "async def run():\n"
            "    async with await memkernel.connect_async(**where) as client:\n"
            "        print((await client.search('deploy Thursdays', private=True))['results'][0]['snippet'])\n"
            "asyncio.run(run())\n"
        )
        ran = subprocess.run([python, "-c", script], cwd=self.workspace, env={**os.environ, "PYTHONPATH": path, "ENV": os.path.realpath(env), "WORKSPACE": self.workspace}, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("Thursdays", ran.stdout)

    def test_errors_and_cancellation(self):
        with self.assertRaises(memkernel.MemkernelError) as caught:
            self.client.call("search", {"quary": "x"})
        self.assertEqual(caught.exception.number, -32602)
        self.assertIn("query", caught.exception.hint)
        call = self.client.start("check")
        call.cancel()
        try:
            call.result(30)
        except memkernel.MemkernelError as err:
            self.assertEqual(err.code, "CANCELLED")  # or it was faster
        with self.assertRaises(memkernel.MemkernelError) as caught:
            memkernel.connect(self.workspace, binary=os.path.join(self.workspace, "none"), state_dir=os.path.join(self.workspace, "other"))
        self.assertEqual(caught.exception.code, "CLOSED")

    def test_memory_is_edited_by_what_was_read(self):
        own = {"session_key": "s", "private": True}
        def call(tool, **arguments):
            return self.client.tools_call(tool, arguments=arguments, **own)["content"]
        self.client.remember("Kim owns the ledger.", path="memory/own.md", **own)
        edit = call("memory_update", path="memory/own.md", text="Noor", old="Kim")["edit"]
        stale = call("memory_update", path="memory/own.md", text="Ada", old="Kim")
        self.assertEqual(stale["reason"], "CONFLICT")
        self.assertIn("Noor owns the ledger.", stale["current"]["text"])
        self.assertIn("Noor", self.client.memory_tool({"command": "view", "path": "/memories/own.md"}, **own)["content"])
        self.assertEqual(call("memory_undo")["edit"], edit)
        call("memory_delete", path="memory/own.md", old="Kim owns the ledger.")
        self.assertTrue(self.client.memory_tool({"command": "view", "path": "/memories/own.md"}, **own)["is_error"])

    def test_progress(self):
        self.client.remember("We deploy on Thursdays.", session_key="s", private=True)
        stages = []
        self.client.reindex(on_progress=lambda p: stages.append(p["stage"]))
        self.assertIn("index", stages)
        self.assertEqual(len(self.client.search("deploy Thursdays")["results"]), 1)

    def test_threads_and_clients(self):
        failed = []

        def work(i):
            try:
                with self.connect() as client:
                    client.session(f"s{i}", model=MODEL).observe_turn([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
            except Exception as err:  # told by the main thread
                failed.append(err)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failed, [])
        self.assertEqual(len(self.client.status()["sessions"]), 6)

    def test_the_example_of_the_readme(self):
        """Runs it as it stands, once per provider, with a dict and with an object."""
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "README.md"), encoding="utf-8") as f:
            example = next(code for code in re.findall(r"```python\n(.*?)```", f.read(), re.S) if "observe_turn" in code)
        os.symlink(os.path.abspath(BINARY), os.path.join(self.workspace, "memkernel"))
        os.mkdir(os.path.join(self.workspace, "project"))
        said = rule = "Never push to main."
        home = {"HOME": self.workspace, "PATH": self.workspace + os.pathsep + os.environ["PATH"]}
        with mock.patch.dict(os.environ, home):
            for name, bill in BILLS.items():
                for usage in (bill, Dumped(bill)):
                    choice = types.SimpleNamespace(message=types.SimpleNamespace(content="good day"))
                    answer = types.SimpleNamespace(choices=[choice], usage=usage)
                    exec(example.replace(rule, said), {"call_the_model": lambda messages: answer})
                    said = f"hello {name} {type(usage).__name__}"
            with memkernel.connect("~/project") as client:
                total = client.usage()["total"]
                plan = client.session("next", private=True).plan([{"role": "user", "content": "hello"}])
                client.shutdown()
        self.assertEqual([total["calls"], total["billed"]["input_tokens"], total["billed"]["cache_read_tokens"]], [12, 12000, 8400])
        self.assertIn(rule, str(plan["messages"]))

    def test_a_bill_that_cannot_be(self):
        turn = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        session = self.client.session("s", model=MODEL)
        with self.assertRaises(memkernel.MemkernelError) as caught:
            session.observe_turn(turn, usage={"input_tokens": -1})
        self.assertIn("input_tokens is negative", str(caught.exception))
        with self.assertRaises(TypeError):
            session.observe_turn(turn, usage=object())
        self.assertEqual(session.observe_turn(turn, usage=None)["outcome"], "committed")

    def test_strange_sockets_are_refused(self):
        other = os.path.join(self.workspace, "other")
        os.makedirs(other)
        os.symlink(os.path.join(self.workspace, ".memkernel", "serve.sock"), os.path.join(other, "serve.sock"))
        with self.assertRaises(memkernel.MemkernelError) as caught:
            memkernel.connect(self.workspace, state_dir=other, binary=BINARY)
        self.assertEqual(caught.exception.code, "UNTRUSTED")


class Script(http.server.BaseHTTPRequestHandler):
    """Answers by a script: status, code of the error, Retry-After; None hangs."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.seen.append((message["method"], time.monotonic()))
        server.session = self.headers.get("Memkernel-Session")
        if message["method"] == "initialize":
            return self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": {"protocol": 1}})
        step = server.script.pop(0) if server.script else None
        if step is None:
            server.hung.set()
            self.rfile.read(1)  # until the client goes
            server.gone.set()
            self.close_connection = True
            return None
        status, code, wait = step
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": str(code), "data": {"code": code, "hint": ""}}}
        return self.answer(status, error if code else {"jsonrpc": "2.0", "id": message["id"], "result": {"ok": True}}, wait)

    def answer(self, status, body, wait=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if wait is not None:
            self.send_header("Retry-After", wait)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class BusyServerTest(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Script)
        self.server.seen, self.server.script = [], []
        self.server.hung, self.server.gone = threading.Event(), threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def failed(self, what):
        with self.assertRaises(memkernel.MemkernelError) as caught:
            what()
        return caught.exception

    def test_it_is_asked_again(self):
        with memkernel.connect(self.url, token="x") as client:
            self.server.script = [(429, "BUSY", "0.2"), (503, "STOPPING", "0"), (503, "NOT_READY", None), (200, None, None)]
            self.assertEqual(client.pages(), {"ok": True})
            calls = [at for method, at in self.server.seen if method == "pages"]
            self.assertEqual(len(calls), 4)
            self.assertGreaterEqual(calls[1] - calls[0], 0.19)
            self.assertIsNone(self.server.session)
            self.server.script = [(200, None, None)]
            client.pages(session_key="memkernel")
            self.assertEqual(self.server.session, "7f1a29f2b063dd2d")  # the beginning of printf memkernel | sha256sum
            self.server.script = [(429, "BUSY", "0")] * 4
            self.assertEqual(self.failed(client.pages).code, "BUSY")
            self.server.script = [(503, "STOPPING", "3600")]
            self.assertEqual(self.failed(client.pages).more["retry_after"], 3600)
            self.server.script = [(403, "SCOPE", None)]
            self.assertEqual(self.failed(client.pages).more["status"], 403)
            call = client.start("pages")
            self.assertTrue(self.server.hung.wait(60))
            call.cancel()
            self.assertEqual(self.failed(call.result).code, "CANCELLED")
            self.assertTrue(self.server.gone.wait(60))
            client._retries = 0
            self.assertEqual(self.failed(lambda: client.pages(timeout=0.05)).code, "DEADLINE")

    def test_awaited(self):
        async def main():
            async with await memkernel.connect_async(self.url, token="x") as client:
                self.server.script = [(429, "BUSY", "0.1"), (200, None, None)]
                self.assertEqual(await client.pages(), {"ok": True})
                task = asyncio.ensure_future(client.pages())
                await asyncio.get_running_loop().run_in_executor(None, self.server.hung.wait, 60)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertTrue(await asyncio.get_running_loop().run_in_executor(None, self.server.gone.wait, 60))

        asyncio.run(main())

    def test_tokens_do_not_travel_in_the_clear(self):
        for url in ("http://memory.example:1", "http://me:secret@127.0.0.1:1", self.url + "/?token=x"):
            self.assertEqual(self.failed(lambda url=url: memkernel.connect(url, token="x")).code, "UNTRUSTED")


@unittest.skipUnless(SERVER, "MEMKERNEL_SERVER names no memkernel-server")
class ServerTest(unittest.TestCase):
    def setUp(self):
        self.workspace = tempfile.mkdtemp(prefix="mk")
        self.addCleanup(shutil.rmtree, self.workspace, True)
        made = subprocess.run([SERVER, "token", "create", "--quiet", "--access", "write", "--workspace", self.workspace], stdout=subprocess.PIPE, check=True)
        self.token = made.stdout.decode().strip()
        self.child = subprocess.Popen([SERVER, "serve", "--quiet", "--listen", "127.0.0.1:0", "--workspace", self.workspace], stdout=subprocess.PIPE)
        self.url = self.child.stdout.readline().decode().strip()
        self.addCleanup(self.child.stdout.close)
        self.addCleanup(self.stop)

    def stop(self):
        self.child.terminate()
        self.child.wait(60)

    def test_sessions(self):
        with memkernel.connect(self.url, token=self.token) as client:
            self.assertEqual(client.server["protocol"], 1)
            session = client.session("s", model=MODEL, private=True)
            messages = [{"role": "user", "content": "hello"}]
            plan = session.plan(messages)
            self.assertEqual(plan["messages"], messages)
            messages.append({"role": "assistant", "content": "good day"})
            self.assertEqual(session.observe_turn(messages, plan_id=plan["plan_id"])["outcome"], "committed")
            threads = [threading.Thread(target=client.pages) for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            for code, what in (("SCOPE", client.shutdown), ("INVALID_PARAMS", lambda: client.search("")), ("TOKEN", lambda: memkernel.connect(self.url, token="none"))):
                with self.assertRaises(memkernel.MemkernelError) as caught:
                    what()
                self.assertEqual(caught.exception.code, code)
            self.stop()
            client._retries = 1
            with self.assertRaises(memkernel.MemkernelError) as caught:
                client.pages()
            self.assertEqual(caught.exception.code, "CLOSED")

    def test_awaited(self):
        async def main():
            async with await memkernel.connect_async(self.url, token=self.token) as client:
                session = client.session("s", model=MODEL)
                self.assertEqual((await session.plan([{"role": "user", "content": "hello"}]))["count"], 1)
                await asyncio.gather(*(client.pages() for _ in range(20)))

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
