// Signing in: the server keeps the token in a cookie that no script can read.
import { $ } from "./elements.js";
import { access, ask, learnAccess } from "./server.js";

// Shows the page that asks for a token, or says why it does so again.
export function showSignIn(isNeeded, reason = "") {
  $("sign-in-page").hidden = !isNeeded;
  $("top").hidden = isNeeded;
  if (isNeeded) {
    for (const page of document.querySelectorAll("section.page")) page.hidden = true;
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    document.title = "Sign in · Cameo";
    $("token").focus();
  }
  $("sign-in-problem").textContent = reason;
  $("account").hidden = !access.name;
  $("account-name").textContent = access.name ?? "";
}

// Returns what is wrong; nothing if all is well.
export async function signIn(token) {
  try {
    await ask("access", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  } catch (problem) {
    return problem.status === 401 ? "This server does not know the token." : problem.message;
  }
  await learnAccess();
  if (!access.name) return "The token is right, but this browser does not keep the server's cookie.";
  return access.read ? "" : `The token “${access.name}” may not read, so there is nothing to show.`;
}

export const signOut = () => ask("access", { method: "DELETE" });

// The token of a link that ends in #token=…, which leaves the address at once.
export function tokenOfAddress() {
  const token = location.hash.match(/^#token=(.+)$/)?.[1];
  if (!token) return null;
  history.replaceState(null, "", location.pathname);
  try { return decodeURIComponent(token); } catch { return token; }
}
