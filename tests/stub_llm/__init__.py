"""A model's service without a model: real coding CLIs and client libraries talk to it in tests.

It speaks OpenAI chat, OpenAI responses, Anthropic messages and Gemini on one port, as JSON and as
a stream. What it answers is chosen by the address that the agent is given:

    with StubServer() as stub:
        base = stub.url("429once", "worker")     # http://127.0.0.1:PORT/s/429once/worker
        ...                                      # OpenAI-style agents want base + "/v1"
        assert stub.asked("worker")[0].key == "the-api-key"

Scenarios (NAME or NAME:ARGUMENT):
    ok            write hello.txt by the agent's own tool, then say STUB-DONE
    text          say STUB-DONE at once            verdict    say {"verdict": "pass", ...}
    loop          call a tool for ever             mcp        call the first tool named *tracker*
    shell:CMD     run CMD by the shell tool        print:TEXT a tool prints TEXT (planted secrets)
    orphan        a tool starts a child in its own session and waits 97 s (for kill tests)
    429[:RETRY_AFTER[:TEXT]]   500   503   529   401[::TEXT]   400ctx[::TEXT]     always that error
    429once[...]  500once      the first request of the run fails so, then as "ok"
    slow:SECS     wait, then as "ok"               stall      a stream begins, then silence
    badjson       a broken body or stream          drop       the connection closes without a reply
    nobody()      (context manager) an address where nobody listens: connection refused

A run may have its own script in place of the steps of "ok":

    stub.script("worker", [{"write": ["a.py", "x = 1\\n"]}, {"shell": "git commit -qam x"},
                           {"tool": ["file_bug", {"title": "t"}]}, {"text": "done"},
                           {"fail": [429, "resets 8pm (Asia/Tokyo)", {"Retry-After": "30"}]}])

In place of steps a function may stand: Asked -> all steps of the conversation, so that an agent's
mind can look at what its tools said. "tool" names a tool by a regular expression and fills in
required arguments that are not given.
A step answers the n-th request of a conversation, where n is the number of tool results since the
last human message: side requests (titles, retries) cannot derail it, and each fresh conversation
starts at the first step. With per_request=True it answers the n-th request of the run instead,
over all its conversations (the last step repeats); if a step of the script calls a tool, requests
that carry no tools are side requests: not counted, and answered with a title.

Each reply claims the same usage: 1000 tokens in, of which 100 cached, and 50 out, of which 5
reasoning. `stub.asked(run)`: its POST requests, oldest first (see server.Asked). By HTTP, for a
server in its own process: POST /__script {"run", "steps", "per_request"}, GET /__log?run=.
    python -m tests.stub_llm --port 8399
"""

from tests.stub_llm.server import Asked, StubServer, nobody

__all__ = ["Asked", "StubServer", "nobody"]
