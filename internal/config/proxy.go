package config

// Proxy holds the settings of the verb proxy. Where it listens and whose API it
// fronts are flags alone: a state folder may have come with somebody's
// repository, and keys pass through here.
type Proxy struct {
	Deadline      Duration `key:"deadline" experimental:"yes" default:"3s" flag:"deadline" range:"1ms..1m" doc:"How long a request waits for its plan. Past it the plan is cancelled, and what the newest one sent goes out with the new messages behind it. Three seconds are three times what the slowest plan took on a busy machine, and little beside a model's answer."`
	OneShots      bool     `key:"one_shots" project:"false" experimental:"yes" default:"false" flag:"one-shots" doc:"Whether requests without tools are planned, too, that a program makes beside conversations or without one: titles, topics, checks. Without it they pass, and get nothing of memory."`
	MaxBody       Size     `key:"max_body" project:"less" experimental:"yes" default:"64MiB" range:"1MiB..4GiB" doc:"Largest request that is taken."`
	RetryOverflow bool     `key:"retry_overflow" experimental:"yes" default:"true" doc:"Whether a request that was refused, as too long or for its thinking, is planned anew and sent once more."`
	AllowOrigins  []string `key:"allow_origins" project:"never" empty:"none" doc:"Web pages and applications with a page's headers whose requests are taken, by origin, such as http://localhost:3000 or app://obsidian.md; --allow-origin adds more."`
	Grace         Duration `key:"grace" experimental:"yes" default:"30s" range:"0s..1h" doc:"How long answers under way may take to end when the proxy is stopped."`
}
