// Changes the token of the one-time link, which no server and no log gets to see, for a cookie.
const say = document.getElementById("door");
const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname + location.search);
if (token) {
  say.textContent = "Opening…";
  try {
    const res = await fetch("/enter", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
    if (res.ok) location.replace(location.pathname + location.search);
    else say.textContent = (await res.json()).error;
  } catch (err) {
    say.textContent = "memkernel ui does not answer any more: start it again.";
  }
}
