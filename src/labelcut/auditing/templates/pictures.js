// Pictures: the row's own, large; those of the nearest rows, with their labels; two side by side.
const album = facts.album;

// The picture of row r of the page, or a box of the same size that says why there is none.
function drawPicture(r, text) {
  const at = album.of[r];
  if (at < 0) {
    const lack = album.lacks[r] ?? "no picture";
    return make("span", { class: "no-picture", role: "img", "aria-label": lack }, lack);
  }
  return make("img", { src: album.data[at], alt: text, draggable: "false" });
}

const hasPicture = (r) => album.of[r] >= 0;
const pictureText = (r) => "picture of " + visible(rowName(r));

// In the list of rows: small, and told by the name beside it.
function drawMini(s) {
  if (!album) return null;
  const picture = hasPicture(s) ? drawPicture(s, "") : null;
  return make("span", { class: "mini", "aria-hidden": "true" }, picture);
}

function drawPictures(s) {
  if (!album) return null;
  const near = nearRows(s).map((r) => drawNearPicture(s, r));
  const around = make("div", { class: "around" }, make("h4", {}, "Nearest rows"));
  if (near.length) {
    const box = { class: "thumbs", role: "group", "aria-label": "Nearest rows" };
    around.append(make("div", box, ...near));
  } else {
    around.append(make("p", { class: "caption" }, "No row is near."));
  }
  around.append(make("p", { class: "caption" }, facts.pictures.nearness));
  return make("section", { class: "pictures" }, drawOwnPicture(s), around);
}

function drawOwnPicture(s) {
  const picture = drawPicture(s, pictureText(s));
  const frame = hasPicture(s)
    ? make("button", { class: "frame", title: "Larger", onclick: () => enlarge([s]) }, picture)
    : make("div", { class: "frame" }, picture);
  const name = valueOf(columnOfPictures, s);
  const caption = make("figcaption", {}, cell(name || "no name"));
  return make("figure", { class: "picture" }, frame, caption);
}

const columnOfPictures = facts.columns.findIndex((column) => column.name === facts.image);

// A click lays the near row's picture beside this one's.
function drawNearPicture(s, r) {
  const label = nearPill(r);
  const mark = facts.rows.is_suspect[r] ? make("span", { class: "too" }, "suspect too") : null;
  const attributes = { class: "thumb", title: visible(rowName(r)), onclick: () => enlarge([s, r]) };
  const picture = make("span", { class: "frame" }, drawPicture(r, pictureText(r)));
  return make("button", attributes, picture, label, mark);
}

function enlarge(rows) {
  const figures = rows.map((r) => {
    const head = make("figcaption", {}, cell(rowName(r)), pill(facts.rows.code[r], 24));
    const frame = make("div", { class: "frame" }, drawPicture(r, pictureText(r)));
    return make("figure", {}, frame, head);
  });
  $("enlarged").replaceChildren(...figures);
  $("picture").showModal();
}
