// Runs before the first paint, so that the dark theme starts without a flash of light.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;

// A script that does not arrive would leave the page blank for good: the connection broke, or the server has been
// updated and has other scripts now.
addEventListener("error", ({ target }) => {
  const app = document.getElementById("app");
  if (!(target instanceof HTMLScriptElement) || !app || app.firstChild) return;
  const again = Object.assign(document.createElement("a"), { href: location.href, textContent: "Load it again" });
  const note = document.createElement("main");
  note.className = "alone";
  note.setAttribute("role", "alert");
  note.append("A part of the page did not arrive. ", again);
  app.append(note);
}, true);
