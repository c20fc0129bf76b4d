package proxy

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/memkernel/memkernel/transcript"
)

// cloudCall returns the model that is named in the path of a call of Anthropic's API at a cloud.
// The paths are Bedrock's …/model/M/invoke and invoke-with-response-stream, and Vertex's
// …/publishers/anthropic/models/M:rawPredict and streamRawPredict.
func cloudCall(path string) (model string, ok bool) {
	if _, rest, found := strings.Cut(path, "/publishers/anthropic/models/"); found {
		model, method, _ := strings.Cut(rest, ":")
		return model, model != "count-tokens" && model != "" && (method == "rawPredict" || method == "streamRawPredict")
	}
	_, rest, found := strings.Cut(path, "/model/")
	if !found {
		return "", false
	}
	for _, end := range []string{"/invoke", "/invoke-with-response-stream"} {
		if model, ok := strings.CutSuffix(rest, end); ok {
			return model, model != ""
		}
	}
	return "", false
}

// anthropicDoubt returns the reason why a request passes unplanned. A request with a container
// lacks the container's files. A request whose path names the model may not be for Anthropic's
// API.
func anthropicDoubt(b *transcript.Body) string {
	var c struct {
		ID string `json:"id"`
	}
	raw := b.Member("container")
	switch {
	case raw != "" && (b.Text("container") != "" || json.Unmarshal([]byte(raw), &c) == nil && c.ID != ""):
		return passElsewhere
	case b.Member("model") == "" && b.Text("anthropic_version") == "":
		return passUnreadable
	}
	return ""
}

const eventStreamType = "application/vnd.amazon.eventstream"

// fromEventStream converts Bedrock's stream of messages to server-sent events. Each message has a
// head, headers and a payload with one event of the API. It does not check the checksums. A
// message without an event ends the stream.
func fromEventStream(data []byte) (out []byte) {
	const head, tail = 12, 4
	for len(data) >= head+tail {
		total, headers := uint64(binary.BigEndian.Uint32(data)), uint64(binary.BigEndian.Uint32(data[4:]))
		if total > uint64(len(data)) || headers > total || total < head+headers+tail {
			return out
		}
		var m struct {
			Bytes string `json:"bytes"`
		}
		if json.Unmarshal(data[head+headers:total-tail], &m) != nil {
			return out
		}
		event, err := base64.StdEncoding.DecodeString(m.Bytes)
		if err != nil || len(event) == 0 {
			return out
		}
		out = append(append(append(out, "data: "...), event...), "\n\n"...)
		data = data[total:]
	}
	return out
}
