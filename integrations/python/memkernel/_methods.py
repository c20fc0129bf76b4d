# Made by bench/clients from doc/schema.json. Don't edit.
"""Every method of the protocol, to be waited for and to be awaited."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union

from . import _protocol as p

OnProgress = Optional[Callable[[Dict[str, Any]], None]]


def _said(params: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


class Methods:
    """The methods; each waits for its answer."""

    def call(self, method: str, params: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None, on_progress: OnProgress = None) -> Any:
        raise NotImplementedError

    def shutdown(self, *, timeout: Optional[float] = None) -> p.Stopping:
        """End the daemon once what was taken is done."""
        return self.call("shutdown", _said({}), timeout=timeout)

    def plan(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, context_window: Optional[int] = None, reserve: Optional[int] = None, fixed_tokens: Optional[int] = None, system: Optional[Union[str, Sequence[Mapping[str, Any]]]] = None, tools: Optional[List[Any]] = None, resolver: Optional[str] = None, tool_choice: Optional[str] = None, thinking: Optional[str] = None, effort: Optional[str] = None, drop_option: Optional[bool] = None, format: Optional[Literal["anthropic" , "openai" , "responses"]] = None, overflow: Optional[p.Overflow] = None, economy: Optional[Union[Literal["save" , "balanced" , "keep"], float]] = None, conversation: Optional[p.Conversation] = None, prompt: Optional[str] = None, turn: Optional[str] = None, ttl_seconds: Optional[int] = None, memories: Optional[List[p.Memories]] = None, loaded: Optional[List[str]] = None, form: Optional[Literal["items" , "body" , "none"]] = None, explain: Optional[bool] = None, max_tokens: Optional[int] = None, timeout: Optional[float] = None) -> p.Planned:
        """What to send with the next call, recorded."""
        return self.call("plan", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "context_window": context_window, "reserve": reserve, "fixed_tokens": fixed_tokens, "system": system, "tools": tools, "resolver": resolver, "tool_choice": tool_choice, "thinking": thinking, "effort": effort, "drop_option": drop_option, "format": format, "overflow": overflow, "economy": economy, "conversation": conversation, "prompt": prompt, "turn": turn, "ttl_seconds": ttl_seconds, "memories": memories, "loaded": loaded, "form": form, "explain": explain, "max_tokens": max_tokens}), timeout=timeout)

    def peek(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, context_window: Optional[int] = None, reserve: Optional[int] = None, fixed_tokens: Optional[int] = None, system: Optional[Union[str, Sequence[Mapping[str, Any]]]] = None, tools: Optional[List[Any]] = None, resolver: Optional[str] = None, tool_choice: Optional[str] = None, thinking: Optional[str] = None, effort: Optional[str] = None, drop_option: Optional[bool] = None, format: Optional[Literal["anthropic" , "openai" , "responses"]] = None, overflow: Optional[p.Overflow] = None, economy: Optional[Union[Literal["save" , "balanced" , "keep"], float]] = None, conversation: Optional[p.Conversation] = None, prompt: Optional[str] = None, turn: Optional[str] = None, ttl_seconds: Optional[int] = None, memories: Optional[List[p.Memories]] = None, loaded: Optional[List[str]] = None, form: Optional[Literal["items" , "body" , "none"]] = None, explain: Optional[bool] = None, max_tokens: Optional[int] = None, timeout: Optional[float] = None) -> p.Planned:
        """The same, recording nothing."""
        return self.call("peek", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "context_window": context_window, "reserve": reserve, "fixed_tokens": fixed_tokens, "system": system, "tools": tools, "resolver": resolver, "tool_choice": tool_choice, "thinking": thinking, "effort": effort, "drop_option": drop_option, "format": format, "overflow": overflow, "economy": economy, "conversation": conversation, "prompt": prompt, "turn": turn, "ttl_seconds": ttl_seconds, "memories": memories, "loaded": loaded, "form": form, "explain": explain, "max_tokens": max_tokens}), timeout=timeout)

    def observe_turn(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, plan_id: Optional[str] = None, usage: Optional[Any] = None, advancement_key: Optional[str] = None, input_transformations: Optional[Any] = None, diagnostics: Optional[Any] = None, prompt_cache_diagnostics: Optional[Any] = None, updates: Optional[List[p.Update]] = None, more: Optional[bool] = None, timeout: Optional[float] = None) -> p.Observed:
        """Commit what was said up to here."""
        return self.call("observe_turn", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "plan_id": plan_id, "usage": usage, "advancement_key": advancement_key, "input_transformations": input_transformations, "diagnostics": diagnostics, "prompt_cache_diagnostics": prompt_cache_diagnostics, "updates": updates, "more": more}), timeout=timeout)

    def observe_tool_result(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, plan_id: Optional[str] = None, usage: Optional[Any] = None, advancement_key: Optional[str] = None, input_transformations: Optional[Any] = None, diagnostics: Optional[Any] = None, prompt_cache_diagnostics: Optional[Any] = None, updates: Optional[List[p.Update]] = None, more: Optional[bool] = None, timeout: Optional[float] = None) -> p.Observed:
        """Commit a result while the turn goes on."""
        return self.call("observe_tool_result", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "plan_id": plan_id, "usage": usage, "advancement_key": advancement_key, "input_transformations": input_transformations, "diagnostics": diagnostics, "prompt_cache_diagnostics": prompt_cache_diagnostics, "updates": updates, "more": more}), timeout=timeout)

    def start_session(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """Begin a session, or go on with it."""
        return self.call("start_session", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    def end_session(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """End a session's use and let go of it."""
        return self.call("end_session", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    def flush(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """Write down what a cut would lose."""
        return self.call("flush", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    def reset(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """Begin a new generation of a session."""
        return self.call("reset", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    def compact(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, target_tokens: Optional[int] = None, target_share: Optional[float] = None, force: Optional[bool] = None, call: Optional[p.CallSettings] = None, timeout: Optional[float] = None) -> p.Passed:
        """Cut the prompt now."""
        return self.call("compact", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason, "target_tokens": target_tokens, "target_share": target_share, "force": force, "call": call}), timeout=timeout)

    def checkpoint(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Checkpointed:
        """Write the working state."""
        return self.call("checkpoint", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    def restore(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, occasion: Optional[str] = None, resolver: Optional[str] = None, timeout: Optional[float] = None) -> p.Restore:
        """The text with which work is taken up again."""
        return self.call("restore", _said({"session_key": session_key, "now": now, "private": private, "occasion": occasion, "resolver": resolver}), timeout=timeout)

    def flush_turn(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, system: Optional[str] = None, prompt: Optional[str] = None, timeout: Optional[float] = None) -> p.FlushTurn:
        """The prompt by which a model writes down what matters."""
        return self.call("flush_turn", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "system": system, "prompt": prompt}), timeout=timeout)

    def observe_flush(self, text: str, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, section: Optional[bool] = None, timeout: Optional[float] = None) -> p.Flushed:
        """Take in what that model answered."""
        return self.call("observe_flush", _said({"text": text, "session_key": session_key, "now": now, "private": private, "section": section}), timeout=timeout)

    def remember(self, text: str, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, path: Optional[str] = None, id: Optional[str] = None, evidence: Optional[str] = None, timeout: Optional[float] = None) -> p.Remembered:
        """Append an entry to memory."""
        return self.call("remember", _said({"text": text, "session_key": session_key, "now": now, "private": private, "path": path, "id": id, "evidence": evidence}), timeout=timeout)

    def memory_tool(self, input: Any, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, timeout: Optional[float] = None) -> p.MemoryToolDocument:
        """Answer a call of Anthropic's memory tool."""
        return self.call("memory.tool", _said({"input": input, "session_key": session_key, "now": now, "private": private}), timeout=timeout)

    def forget(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, ids: Optional[List[str]] = None, all: Optional[bool] = None, reason: Optional[str] = None, apply: Optional[bool] = None, timeout: Optional[float] = None) -> p.Forget:
        """Tell what removing pages or a session for good takes, or do it."""
        return self.call("forget", _said({"session_key": session_key, "now": now, "private": private, "ids": ids, "all": all, "reason": reason, "apply": apply}), timeout=timeout)

    def retain(self, *, apply: Optional[bool] = None, now: Optional[str] = None, timeout: Optional[float] = None) -> p.Retained:
        """Tell what is older than it is to be kept, or remove it."""
        return self.call("retain", _said({"apply": apply, "now": now}), timeout=timeout)

    def search(self, query: str, *, session_key: Optional[str] = None, private: Optional[bool] = None, max_results: Optional[int] = None, min_score: Optional[float] = None, scope: Optional[List[str]] = None, lines: Optional[bool] = None, now: Optional[str] = None, timeout: Optional[float] = None) -> p.Search:
        """Find what memory says."""
        return self.call("search", _said({"query": query, "session_key": session_key, "private": private, "max_results": max_results, "min_score": min_score, "scope": scope, "lines": lines, "now": now}), timeout=timeout)

    def read(self, path: str, *, session_key: Optional[str] = None, private: Optional[bool] = None, from_: Optional[int] = None, lines: Optional[int] = None, timeout: Optional[float] = None) -> p.Get:
        """Lines of a memory file."""
        return self.call("read", _said({"path": path, "session_key": session_key, "private": private, "from": from_, "lines": lines}), timeout=timeout)

    def get(self, id: str, *, session_key: Optional[str] = None, timeout: Optional[float] = None) -> p.Get:
        """A page, a span or a checkpoint by its id."""
        return self.call("get", _said({"id": id, "session_key": session_key}), timeout=timeout)

    def write(self, updates: List[p.Update], *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, key: Optional[str] = None, point: Optional[str] = None, by: Optional[str] = None, project: Optional[bool] = None, all_or_nothing: Optional[bool] = None, timeout: Optional[float] = None) -> p.Receipt:
        """Commit validated updates."""
        return self.call("write", _said({"updates": updates, "session_key": session_key, "now": now, "private": private, "key": key, "point": point, "by": by, "project": project, "all_or_nothing": all_or_nothing}), timeout=timeout)

    def pages(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, timeout: Optional[float] = None) -> p.PagesDocument:
        """The pages of a session."""
        return self.call("pages", _said({"session_key": session_key, "now": now, "private": private}), timeout=timeout)

    def status(self, *, timeout: Optional[float] = None) -> p.Status:
        """What is where and how big."""
        return self.call("status", _said({}), timeout=timeout)

    def check(self, *, timeout: Optional[float] = None) -> p.Check:
        """Verify everything on disk."""
        return self.call("check", _said({}), timeout=timeout)

    def usage(self, *, session_key: Optional[str] = None, since: Optional[str] = None, timeout: Optional[float] = None) -> p.DocumentStats:
        """What calls were planned and billed at."""
        return self.call("usage", _said({"session_key": session_key, "since": since}), timeout=timeout)

    def reindex(self, *, full: Optional[bool] = None, wait_ms: Optional[int] = None, progress: Optional[bool] = None, timeout: Optional[float] = None, on_progress: OnProgress = None) -> p.Reindex:
        """Bring the index up to date, with progress."""
        if progress is None and on_progress is not None:
            progress = True
        return self.call("reindex", _said({"full": full, "wait_ms": wait_ms, "progress": progress}), timeout=timeout, on_progress=on_progress)

    def tools_list(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, format: Optional[Literal["anthropic" , "mcp"]] = None, all: Optional[bool] = None, timeout: Optional[float] = None) -> p.ToolDefinitions:
        """The tools that a model can call."""
        return self.call("tools.list", _said({"session_key": session_key, "now": now, "private": private, "format": format, "all": all}), timeout=timeout)

    def tools_call(self, name: str, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, arguments: Optional[Any] = None, timeout: Optional[float] = None) -> p.ToolAnswer:
        """Call one of them."""
        return self.call("tools.call", _said({"name": name, "session_key": session_key, "now": now, "private": private, "arguments": arguments}), timeout=timeout)


class AsyncMethods:
    """The methods; each is awaited."""

    async def call(self, method: str, params: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None, on_progress: OnProgress = None) -> Any:
        raise NotImplementedError

    async def shutdown(self, *, timeout: Optional[float] = None) -> p.Stopping:
        """End the daemon once what was taken is done."""
        return await self.call("shutdown", _said({}), timeout=timeout)

    async def plan(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, context_window: Optional[int] = None, reserve: Optional[int] = None, fixed_tokens: Optional[int] = None, system: Optional[Union[str, Sequence[Mapping[str, Any]]]] = None, tools: Optional[List[Any]] = None, resolver: Optional[str] = None, tool_choice: Optional[str] = None, thinking: Optional[str] = None, effort: Optional[str] = None, drop_option: Optional[bool] = None, format: Optional[Literal["anthropic" , "openai" , "responses"]] = None, overflow: Optional[p.Overflow] = None, economy: Optional[Union[Literal["save" , "balanced" , "keep"], float]] = None, conversation: Optional[p.Conversation] = None, prompt: Optional[str] = None, turn: Optional[str] = None, ttl_seconds: Optional[int] = None, memories: Optional[List[p.Memories]] = None, loaded: Optional[List[str]] = None, form: Optional[Literal["items" , "body" , "none"]] = None, explain: Optional[bool] = None, max_tokens: Optional[int] = None, timeout: Optional[float] = None) -> p.Planned:
        """What to send with the next call, recorded."""
        return await self.call("plan", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "context_window": context_window, "reserve": reserve, "fixed_tokens": fixed_tokens, "system": system, "tools": tools, "resolver": resolver, "tool_choice": tool_choice, "thinking": thinking, "effort": effort, "drop_option": drop_option, "format": format, "overflow": overflow, "economy": economy, "conversation": conversation, "prompt": prompt, "turn": turn, "ttl_seconds": ttl_seconds, "memories": memories, "loaded": loaded, "form": form, "explain": explain, "max_tokens": max_tokens}), timeout=timeout)

    async def peek(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, context_window: Optional[int] = None, reserve: Optional[int] = None, fixed_tokens: Optional[int] = None, system: Optional[Union[str, Sequence[Mapping[str, Any]]]] = None, tools: Optional[List[Any]] = None, resolver: Optional[str] = None, tool_choice: Optional[str] = None, thinking: Optional[str] = None, effort: Optional[str] = None, drop_option: Optional[bool] = None, format: Optional[Literal["anthropic" , "openai" , "responses"]] = None, overflow: Optional[p.Overflow] = None, economy: Optional[Union[Literal["save" , "balanced" , "keep"], float]] = None, conversation: Optional[p.Conversation] = None, prompt: Optional[str] = None, turn: Optional[str] = None, ttl_seconds: Optional[int] = None, memories: Optional[List[p.Memories]] = None, loaded: Optional[List[str]] = None, form: Optional[Literal["items" , "body" , "none"]] = None, explain: Optional[bool] = None, max_tokens: Optional[int] = None, timeout: Optional[float] = None) -> p.Planned:
        """The same, recording nothing."""
        return await self.call("peek", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "context_window": context_window, "reserve": reserve, "fixed_tokens": fixed_tokens, "system": system, "tools": tools, "resolver": resolver, "tool_choice": tool_choice, "thinking": thinking, "effort": effort, "drop_option": drop_option, "format": format, "overflow": overflow, "economy": economy, "conversation": conversation, "prompt": prompt, "turn": turn, "ttl_seconds": ttl_seconds, "memories": memories, "loaded": loaded, "form": form, "explain": explain, "max_tokens": max_tokens}), timeout=timeout)

    async def observe_turn(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, plan_id: Optional[str] = None, usage: Optional[Any] = None, advancement_key: Optional[str] = None, input_transformations: Optional[Any] = None, diagnostics: Optional[Any] = None, prompt_cache_diagnostics: Optional[Any] = None, updates: Optional[List[p.Update]] = None, more: Optional[bool] = None, timeout: Optional[float] = None) -> p.Observed:
        """Commit what was said up to here."""
        return await self.call("observe_turn", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "plan_id": plan_id, "usage": usage, "advancement_key": advancement_key, "input_transformations": input_transformations, "diagnostics": diagnostics, "prompt_cache_diagnostics": prompt_cache_diagnostics, "updates": updates, "more": more}), timeout=timeout)

    async def observe_tool_result(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, plan_id: Optional[str] = None, usage: Optional[Any] = None, advancement_key: Optional[str] = None, input_transformations: Optional[Any] = None, diagnostics: Optional[Any] = None, prompt_cache_diagnostics: Optional[Any] = None, updates: Optional[List[p.Update]] = None, more: Optional[bool] = None, timeout: Optional[float] = None) -> p.Observed:
        """Commit a result while the turn goes on."""
        return await self.call("observe_tool_result", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "plan_id": plan_id, "usage": usage, "advancement_key": advancement_key, "input_transformations": input_transformations, "diagnostics": diagnostics, "prompt_cache_diagnostics": prompt_cache_diagnostics, "updates": updates, "more": more}), timeout=timeout)

    async def start_session(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """Begin a session, or go on with it."""
        return await self.call("start_session", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    async def end_session(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """End a session's use and let go of it."""
        return await self.call("end_session", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    async def flush(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """Write down what a cut would lose."""
        return await self.call("flush", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    async def reset(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Passed:
        """Begin a new generation of a session."""
        return await self.call("reset", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    async def compact(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, target_tokens: Optional[int] = None, target_share: Optional[float] = None, force: Optional[bool] = None, call: Optional[p.CallSettings] = None, timeout: Optional[float] = None) -> p.Passed:
        """Cut the prompt now."""
        return await self.call("compact", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason, "target_tokens": target_tokens, "target_share": target_share, "force": force, "call": call}), timeout=timeout)

    async def checkpoint(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, updates: Optional[List[p.Update]] = None, key: Optional[str] = None, reason: Optional[str] = None, timeout: Optional[float] = None) -> p.Checkpointed:
        """Write the working state."""
        return await self.call("checkpoint", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "updates": updates, "key": key, "reason": reason}), timeout=timeout)

    async def restore(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, occasion: Optional[str] = None, resolver: Optional[str] = None, timeout: Optional[float] = None) -> p.Restore:
        """The text with which work is taken up again."""
        return await self.call("restore", _said({"session_key": session_key, "now": now, "private": private, "occasion": occasion, "resolver": resolver}), timeout=timeout)

    async def flush_turn(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, session_file: Optional[str] = None, channel: Optional[str] = None, agent_id: Optional[str] = None, branch: Optional[str] = None, model: Optional[str] = None, conversation: Optional[p.Conversation] = None, system: Optional[str] = None, prompt: Optional[str] = None, timeout: Optional[float] = None) -> p.FlushTurn:
        """The prompt by which a model writes down what matters."""
        return await self.call("flush_turn", _said({"session_key": session_key, "now": now, "private": private, "session_file": session_file, "channel": channel, "agent_id": agent_id, "branch": branch, "model": model, "conversation": conversation, "system": system, "prompt": prompt}), timeout=timeout)

    async def observe_flush(self, text: str, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, section: Optional[bool] = None, timeout: Optional[float] = None) -> p.Flushed:
        """Take in what that model answered."""
        return await self.call("observe_flush", _said({"text": text, "session_key": session_key, "now": now, "private": private, "section": section}), timeout=timeout)

    async def remember(self, text: str, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, path: Optional[str] = None, id: Optional[str] = None, evidence: Optional[str] = None, timeout: Optional[float] = None) -> p.Remembered:
        """Append an entry to memory."""
        return await self.call("remember", _said({"text": text, "session_key": session_key, "now": now, "private": private, "path": path, "id": id, "evidence": evidence}), timeout=timeout)

    async def memory_tool(self, input: Any, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, timeout: Optional[float] = None) -> p.MemoryToolDocument:
        """Answer a call of Anthropic's memory tool."""
        return await self.call("memory.tool", _said({"input": input, "session_key": session_key, "now": now, "private": private}), timeout=timeout)

    async def forget(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, ids: Optional[List[str]] = None, all: Optional[bool] = None, reason: Optional[str] = None, apply: Optional[bool] = None, timeout: Optional[float] = None) -> p.Forget:
        """Tell what removing pages or a session for good takes, or do it."""
        return await self.call("forget", _said({"session_key": session_key, "now": now, "private": private, "ids": ids, "all": all, "reason": reason, "apply": apply}), timeout=timeout)

    async def retain(self, *, apply: Optional[bool] = None, now: Optional[str] = None, timeout: Optional[float] = None) -> p.Retained:
        """Tell what is older than it is to be kept, or remove it."""
        return await self.call("retain", _said({"apply": apply, "now": now}), timeout=timeout)

    async def search(self, query: str, *, session_key: Optional[str] = None, private: Optional[bool] = None, max_results: Optional[int] = None, min_score: Optional[float] = None, scope: Optional[List[str]] = None, lines: Optional[bool] = None, now: Optional[str] = None, timeout: Optional[float] = None) -> p.Search:
        """Find what memory says."""
        return await self.call("search", _said({"query": query, "session_key": session_key, "private": private, "max_results": max_results, "min_score": min_score, "scope": scope, "lines": lines, "now": now}), timeout=timeout)

    async def read(self, path: str, *, session_key: Optional[str] = None, private: Optional[bool] = None, from_: Optional[int] = None, lines: Optional[int] = None, timeout: Optional[float] = None) -> p.Get:
        """Lines of a memory file."""
        return await self.call("read", _said({"path": path, "session_key": session_key, "private": private, "from": from_, "lines": lines}), timeout=timeout)

    async def get(self, id: str, *, session_key: Optional[str] = None, timeout: Optional[float] = None) -> p.Get:
        """A page, a span or a checkpoint by its id."""
        return await self.call("get", _said({"id": id, "session_key": session_key}), timeout=timeout)

    async def write(self, updates: List[p.Update], *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, key: Optional[str] = None, point: Optional[str] = None, by: Optional[str] = None, project: Optional[bool] = None, all_or_nothing: Optional[bool] = None, timeout: Optional[float] = None) -> p.Receipt:
        """Commit validated updates."""
        return await self.call("write", _said({"updates": updates, "session_key": session_key, "now": now, "private": private, "key": key, "point": point, "by": by, "project": project, "all_or_nothing": all_or_nothing}), timeout=timeout)

    async def pages(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, timeout: Optional[float] = None) -> p.PagesDocument:
        """The pages of a session."""
        return await self.call("pages", _said({"session_key": session_key, "now": now, "private": private}), timeout=timeout)

    async def status(self, *, timeout: Optional[float] = None) -> p.Status:
        """What is where and how big."""
        return await self.call("status", _said({}), timeout=timeout)

    async def check(self, *, timeout: Optional[float] = None) -> p.Check:
        """Verify everything on disk."""
        return await self.call("check", _said({}), timeout=timeout)

    async def usage(self, *, session_key: Optional[str] = None, since: Optional[str] = None, timeout: Optional[float] = None) -> p.DocumentStats:
        """What calls were planned and billed at."""
        return await self.call("usage", _said({"session_key": session_key, "since": since}), timeout=timeout)

    async def reindex(self, *, full: Optional[bool] = None, wait_ms: Optional[int] = None, progress: Optional[bool] = None, timeout: Optional[float] = None, on_progress: OnProgress = None) -> p.Reindex:
        """Bring the index up to date, with progress."""
        if progress is None and on_progress is not None:
            progress = True
        return await self.call("reindex", _said({"full": full, "wait_ms": wait_ms, "progress": progress}), timeout=timeout, on_progress=on_progress)

    async def tools_list(self, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, format: Optional[Literal["anthropic" , "mcp"]] = None, all: Optional[bool] = None, timeout: Optional[float] = None) -> p.ToolDefinitions:
        """The tools that a model can call."""
        return await self.call("tools.list", _said({"session_key": session_key, "now": now, "private": private, "format": format, "all": all}), timeout=timeout)

    async def tools_call(self, name: str, *, session_key: Optional[str] = None, now: Optional[str] = None, private: Optional[bool] = None, arguments: Optional[Any] = None, timeout: Optional[float] = None) -> p.ToolAnswer:
        """Call one of them."""
        return await self.call("tools.call", _said({"name": name, "session_key": session_key, "now": now, "private": private, "arguments": arguments}), timeout=timeout)
