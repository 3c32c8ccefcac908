// What the browser made of a page, as an object: an expression for the page that is open.
(() => {
  const wrong = [];
  const text = node => node.textContent.trim().slice(0, 40);
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    wrong.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
  }
  // What of a box can be seen: the boxes that scroll or cut around it cut it.
  const seen = (box, element) => {
    let {left, right, top, bottom} = box;
    for (let e = element; e; e = e.parentElement) {
      if (getComputedStyle(e).overflowX === 'visible') continue;
      const frame = e.getBoundingClientRect();
      left = Math.max(left, frame.left), right = Math.min(right, frame.right);
      top = Math.max(top, frame.top), bottom = Math.min(bottom, frame.bottom);
    }
    return {left, right, top, bottom};
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (!node.data.trim() || !node.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const whole of range.getClientRects()) {
      const box = seen(whole, node.parentElement);
      if (box.right - box.left > 1 && box.bottom - box.top > 1) texts.push({node, box, whole});
    }
  }
  for (const {node, box} of texts) {
    if (box.left < 0 || box.right > width + 0.5) wrong.push(`outside of the window: ${text(node)}`);
  }
  for (let i = 0; i < texts.length; ++i) {
    const a = texts[i].box;
    for (let j = i + 1; j < texts.length; ++j) {
      const b = texts[j].box;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Boxes of lines are higher than letters.
      if (across > 1 && down > 4) wrong.push(`${text(texts[i].node)} lies on ${text(texts[j].node)}`);
    }
  }
  // Contrast, as the Web Content Accessibility Guidelines 2.1 compute it.
  const parts = colour => {
    const [r, g, b, a] = colour.match(/[\d.]+/g).map(Number);
    return {rgb: [r, g, b], a: a === undefined ? 1 : a};
  };
  const behind = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const layer = parts(getComputedStyle(e).backgroundColor);
      layers.push(layer);
      if (layer.a === 1) break;
    }
    let rgb = [255, 255, 255];
    for (const l of layers.reverse()) rgb = rgb.map((c, k) => c * (1 - l.a) + l.rgb[k] * l.a);
    return rgb;
  };
  const brightness = rgb => {
    const [r, g, b] = rgb.map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const {node} of texts) {
    const [low, high] = [parts(getComputedStyle(node.parentElement).color).rgb,
                         behind(node.parentElement)].map(brightness).sort((x, y) => x - y);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(1)} of ${text(node)}`);
  }
  const lines = [...document.querySelectorAll('.source table.code tr')].slice(1).map(row => {
    const cells = [...row.cells].filter(c => getComputedStyle(c).display !== 'none');
    const boxes = cells.map(c => c.getBoundingClientRect());
    const first = texts.filter(t => row.contains(t.node)).map(t => t.whole);
    return {
      number: Number(row.cells[0].textContent), heat: row.className, colour: behind(row),
      cells: cells.map(c => c.textContent),
      // The first lines of its cells: how far apart, from top to bottom.
      spread: Math.max(...cells.map(c => {
        const own = texts.filter(t => c.contains(t.node)).map(t => t.whole.bottom);
        return own.length ? Math.min(...own) : -Infinity;
      })) - Math.min(...cells.map(c => {
        const own = texts.filter(t => c.contains(t.node)).map(t => t.whole.bottom);
        return own.length ? Math.min(...own) : Infinity;
      })),
      right: Math.max(...boxes.map(b => b.right)), shown: first.length > 0,
      cut: row.cells[1].scrollWidth > row.cells[1].clientWidth,
    };
  });
  const tables = [...document.querySelectorAll('.wide')].map(e => {
    const box = e.getBoundingClientRect();
    return {left: box.left, right: box.right, hidden: e.scrollWidth - e.clientWidth};
  });
  const columns = [...document.querySelectorAll('.parts > *')].map(e => {
    const {left, right, top, bottom} = e.getBoundingClientRect();
    return {left, right, top, bottom};
  });
  return {wrong, lines, tables, columns, width, texts: texts.length};
})()
