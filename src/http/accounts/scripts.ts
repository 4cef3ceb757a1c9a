// A page may have one of them, which its policy allows by its hash.

/** Without the clipboard, which browsers give only over https and here, the text is selected. */
export const COPY = `
for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.previousElementSibling;
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      isCopied = document.execCommand("copy");
    }
    button.textContent = isCopied ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}
`;

/** Only what the page of that address says counts: any window that knows ours may send messages. */
export const FILL = `
for (const button of document.querySelectorAll(".sign-in")) {
  button.hidden = false;
  const { url, field, key } = button.dataset;
  let opened = null;
  button.addEventListener("click", () => {
    opened = window.open(url, "_blank", "popup,width=600,height=700");
  });
  addEventListener("message", ({ origin, data }) => {
    const value = data?.[key];
    if (opened === null || origin !== new URL(url).origin || typeof value !== "string") return;
    document.getElementById(field).value = value;
    opened.close();
    button.textContent = "Signed in: go on below";
  });
}
`;
