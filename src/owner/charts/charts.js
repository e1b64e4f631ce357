// Shows a chart's values at the pointer or for the arrow keys, and makes its bars links. Without this
// script, charts stay static, and have tables with links.

const line = (kind, text) => {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
};

/**
 * @param plot holds the drawing, beside which the values are shown
 * @param label the id of what names it
 * @param names of the values
 * @param times each with its values, in the reader's locale; empty for none
 * @param first is selected first
 * @param hrefAt where a time leads, or a place within it from 0 to 1
 */
function explore({ plot, label, names, times, first, hrefAt }) {
  const marks = plot.querySelector('.marks');
  const cursor = marks.querySelector('.cursor');
  const last = times.length - 1;
  let selected = first;
  let touched;

  // Beside the drawing, whose bars are links and so may not be within a slider.
  const slider = Object.assign(document.createElement('div'), {
    className: 'slider',
    role: 'slider',
    tabIndex: 0,
    ariaValueMin: '0',
    ariaValueMax: String(last),
  });
  slider.setAttribute('aria-labelledby', label);
  const tip = Object.assign(document.createElement('div'), {
    className: 'tip',
    ariaHidden: 'true',
  });
  plot.append(slider, tip);

  const select = (index, isShown) => {
    selected = Math.min(Math.max(index, 0), last);
    const [when, ...values] = times[selected];
    const known = values.map((value, of) => [names[of], value]).filter(([, value]) => value);
    cursor.setAttribute('transform', `translate(${selected} 0)`);
    cursor.classList.toggle('on', isShown);
    slider.ariaValueNow = String(selected);
    slider.ariaValueText = `${when}: ${known.map((each) => each.join(' ')).join(', ')}`;
    tip.classList.toggle('on', isShown);
    if (!isShown) return;
    tip.replaceChildren(
      line('strong', when),
      ...known.flatMap(([name, value]) => [line('span', name), line('b', value)]),
    );
    const { left, width } = marks.getBoundingClientRect();
    const middle =
      left - plot.getBoundingClientRect().left + ((selected + 0.5) / times.length) * width;
    const room = plot.clientWidth - tip.offsetWidth;
    const beside = middle + 12 > room ? middle - 12 - tip.offsetWidth : middle + 12;
    tip.style.left = `${Math.min(Math.max(beside, 0), Math.max(room, 0))}px`;
  };

  select(first, false);

  // A link where the pointer is, since one for each bar would be most of the page.
  const link = document.createElementNS(marks.namespaceURI, 'a');
  const hit = document.createElementNS(marks.namespaceURI, 'path');
  hit.setAttribute('class', 'hit');
  hit.setAttribute('d', 'M0,0h1v100h-1z');
  link.setAttribute('tabindex', '-1');
  link.append(hit);
  marks.append(link);

  const indexAt = ({ clientX }) => {
    const { left, width } = marks.getBoundingClientRect();
    const place = ((clientX - left) / width) * times.length;
    const index = Math.min(Math.max(Math.floor(place), 0), last);
    const href = hrefAt(index, place - index);
    if (href === undefined) link.removeAttribute('href');
    else link.setAttribute('href', href);
    link.setAttribute('transform', `translate(${index + marks.viewBox.baseVal.x} 0)`);
    return index;
  };
  marks.addEventListener('pointermove', (event) => select(indexAt(event), true));
  marks.addEventListener('pointerleave', () => {
    const isFocused = document.activeElement === slider;
    select(isFocused ? selected : first, isFocused);
  });
  // On a touch screen, the first tap shows the values, and a second one follows the link.
  marks.addEventListener('click', (event) => {
    if (event.pointerType !== 'touch') return;
    const index = indexAt(event);
    if (touched !== index) event.preventDefault();
    touched = index;
    select(index, true);
  });
  slider.addEventListener('focus', () => select(selected, true));
  slider.addEventListener('blur', () => select(first, false));

  const steps = {
    ArrowLeft: () => selected - 1,
    ArrowRight: () => selected + 1,
    ArrowDown: () => selected - 1,
    ArrowUp: () => selected + 1,
    PageDown: () => selected - 7,
    PageUp: () => selected + 7,
    Home: () => 0,
    End: () => last,
  };
  slider.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter' && hrefAt(selected)) location.assign(hrefAt(selected));
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    select(step(), true);
  });
}

const listOf = (texts) => (texts ? texts.split('|') : []);

for (const figure of document.querySelectorAll('figure.chart')) {
  const { first, times, days, notes } = figure.dataset;
  const columns = [':not(.before)', '.before'].flatMap((kind) => [
    ...figure.querySelectorAll(`[data-values]${kind}`),
  ]);
  const [start, ...lengths] = listOf(days);
  // The first day of a time, or one a number of days from it.
  const dayAt = (index, more = 0) => {
    const before = lengths.slice(0, index).reduce((sum, length) => sum + Number(length), more);
    return new Date(Date.parse(start) + before * 86_400_000).toISOString().slice(0, 10);
  };
  const names = columns.map(({ dataset }) => dataset.name);
  const values = columns.map(({ dataset }) => listOf(dataset.values));
  const hrefs = columns.map(({ dataset }) => listOf(dataset.hrefs)).filter(({ length }) => length);
  explore({
    plot: figure.querySelector('.plot'),
    label: figure.querySelector('h2').id,
    names: [...names, 'Noted'],
    times: listOf(times).map((time, index) => [
      time,
      ...values.map((each) => each[index]),
      listOf(notes)[index],
    ]),
    first: Number(first),
    hrefAt(index, place = 0) {
      // Side by side, with a seventh of the width left free at both ends: chart.ts.
      const of = Math.floor(((place - 0.14) / 0.72) * hrefs.length);
      const list = hrefs[Math.min(Math.max(of, 0), hrefs.length - 1)];
      return (list?.[index] ?? list?.[0])
        ?.replace('{first}', () => dayAt(index))
        .replace('{last}', () => dayAt(index + 1, -1));
    },
  });
}

for (const plot of document.querySelectorAll('.hero')) {
  const link = plot.querySelector('a.row');
  const values = listOf(plot.dataset.values);
  // If they are those of the page's chart, it alone says them.
  const holder = plot.closest('[data-times]') ?? document.querySelector('figure.chart');
  const times = listOf(holder.dataset.times);
  explore({
    plot,
    label: link.id,
    names: [link.textContent.trim()],
    times: times.map((time, index) => [time, values[index]]),
    first: times.length - 1,
    hrefAt: () => link.href,
  });
}
