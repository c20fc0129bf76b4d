// The conversation as it was said. The host shows a model a summary in the place of
// what it has compacted away; memkernel gets all of it, so that a compaction is no
// edit to it, nothing is summed up twice, and the prompt's beginning stays what it was.

/** Tells whether a message goes to the model. */
export function travels(message) {
  switch (message.role) {
    case "user":
    case "toolResult":
    case "custom":
    case "branchSummary":
    case "compactionSummary":
      return true;
    case "assistant":
      return message.stopReason !== "aborted" && message.stopReason !== "error";
    case "bashExecution":
      return !message.excludeFromContext;
    default:
      return false;
  }
}

/** The messages of a path from root to leaf, each with the id of its entry. */
export function said(path) {
  return path.flatMap(messageOf).filter((e) => travels(e.message));
}

/** What the host is about to send, with what its newest compaction took away. */
export function whole(messages, path) {
  const sent = messages.filter(travels);
  if (sent[0]?.role !== "compactionSummary") return sent;
  const newest = path.findLast((e) => e.type === "compaction");
  const from = path.findIndex((e) => e.id === newest?.firstKeptEntryId);
  if (from < 0) return sent;
  return [...said(path.slice(0, from)).map((e) => e.message), ...sent.slice(1)];
}

function messageOf(entry) {
  const { id, timestamp } = entry;
  switch (entry.type) {
    case "message":
      return [{ id, message: entry.message }];
    case "custom_message": {
      const { customType, content, display, details } = entry;
      return [{ id, message: { role: "custom", customType, content, display, details, timestamp: millis(timestamp) } }];
    }
    case "branch_summary":
      return entry.summary ? [{ id, message: { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp: millis(timestamp) } }] : [];
    default:
      return [];
  }
}

function millis(timestamp) {
  return new Date(timestamp).getTime();
}
