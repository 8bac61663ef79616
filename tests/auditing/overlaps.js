// Returns the pairs of visible texts and controls that lie over each other on the page.
() => {
  const clipped = (element, rect) => {
    let { left, top, right, bottom } = rect;
    for (let box = element; box; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (style.position === "fixed") return null; // A bar that floats over the page is meant to.
      if (style.overflow === "visible") continue;
      const outer = box.getBoundingClientRect();
      [left, top] = [Math.max(left, outer.left), Math.max(top, outer.top)];
      [right, bottom] = [Math.min(right, outer.right), Math.min(bottom, outer.bottom)];
    }
    // Lines of text may touch: their boxes are a little higher than their letters.
    [left, top, right, bottom] = [left + 1, top + 3, right - 1, bottom - 3];
    return right > left && bottom > top ? { left, top, right, bottom } : null;
  };
  const found = [];
  const add = (element, rects, text) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return;
    if (element.closest(".visually-hidden, .hidden-input, .skip, option, [transform]")) return;
    for (const rect of rects) {
      const box = clipped(element, rect);
      if (box) found.push({ element, box, text: text.trim().slice(0, 40) });
    }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || node.parentElement.closest("script, style, svg")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    add(node.parentElement, range.getClientRects(), node.data);
  }
  for (const control of document.querySelectorAll("button, select, input, progress, canvas")) {
    add(control, [control.getBoundingClientRect()], control.id || control.textContent);
  }
  const over = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const pairs = [];
  found.forEach((one, i) => {
    for (const other of found.slice(i + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      if (over(one.box, other.box)) pairs.push(one.text + " / " + other.text);
    }
  });
  return pairs;
}
