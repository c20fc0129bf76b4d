"""Talks to the real program, which MEMKERNEL names."""

import os
import shutil
import tempfile
import threading
import unittest

import memkernel

BINARY = os.environ.get("MEMKERNEL", "")
MODEL = "claude-sonnet-4-6"


@unittest.skipUnless(BINARY, "MEMKERNEL names no program")
class ClientTest(unittest.TestCase):
    def setUp(self):
        self.workspace = tempfile.mkdtemp(prefix="mk")
        self.addCleanup(shutil.rmtree, self.workspace, True)
        self.client = self.connect()
        self.addCleanup(self.end)

    def connect(self):
        return memkernel.connect(self.workspace, binary=BINARY, idle="1s")

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

    def test_what_was_lost_is_sent_again(self):
        messages = [{"role": "user", "content": "hello"}]
        first = self.client.session("s", model=MODEL)
        first.plan(messages)
        self.client.session("s", model=MODEL).plan(messages)  # moves the base on
        messages.append({"role": "assistant", "content": "good day"})
        self.assertEqual(first.observe_turn(messages)["outcome"], "committed")
        self.client.shutdown()
        self.client._reader.join(10)
        with self.assertRaises(memkernel.MemkernelError) as caught:
            self.client.status()
        self.assertEqual(caught.exception.code, "CLOSED")
        self.client = self.connect()
        self.assertEqual(self.client.session("s", model=MODEL).observe_turn(messages)["outcome"], "duplicate")

    def test_a_block_of_the_kernel_travels_once(self):
        session = self.client.session("s", model=MODEL)
        first = session.plan([], prompt="hello")
        call, answers = self.client.call, []
        self.client.call = lambda *a, **k: answers.append(call(*a, **k)) or answers[-1]
        second = session.plan([], prompt="hello")
        self.assertEqual(answers[0]["items"], [{"known": 0}])
        self.assertEqual(second["messages"], first["messages"])

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

    def test_strange_sockets_are_refused(self):
        other = os.path.join(self.workspace, "other")
        os.makedirs(other)
        os.symlink(os.path.join(self.workspace, ".memkernel", "serve.sock"), os.path.join(other, "serve.sock"))
        with self.assertRaises(memkernel.MemkernelError) as caught:
            memkernel.connect(self.workspace, state_dir=other, binary=BINARY)
        self.assertEqual(caught.exception.code, "UNTRUSTED")


if __name__ == "__main__":
    unittest.main()
