
'use strict';
// Shows what is in #data. Every text comes from a matrix or out of a container: it becomes textContent, never markup.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);

  // The worst first: in this order they are counted and shown.
  const STATES = [
    ['failed', '✗', 'failed'],
    ['unknown', '?', 'unknown'],
    ['rejected', '–', 'rejected'],
    ['planned', '○', 'not tested'],
    ['static', '◐', 'passed without a GPU'],
    ['passed', '✓', 'passed on a GPU'],
    ['skipped', '·', 'skipped'],
  ].map(([name, sign, words], index) => ({ name, sign, words, index }));
  const STATE = Object.fromEntries(STATES.map((state) => [state.name, state]));
  const SHORT = { 'static': 'no GPU', passed: 'GPU' };
  const NOT_SET = 'not set';
  const GRID_STEP = 40;  // rows and columns of the grid that are shown at first
  const LIST_STEP = 60;
  const WORDY_COLUMNS = 8;  // up to so many have room for a word in a box

  const stateOf = (cell) => {
    if (cell.outcome === 'failed' || cell.outcome === 'errored') return STATE.failed;
    if (cell.outcome === 'planned') return STATE.planned;
    if (cell.outcome === 'passed') return data.gpu ? STATE.passed : STATE.static;
    if (cell.outcome === 'passed_without_gpu') return STATE.static;
    if (cell.verdict === 'rejected') return STATE.rejected;
    if (cell.verdict === 'unknown') return STATE.unknown;
    return STATE.skipped;
  };
  const text = (index) => (index === undefined ? '' : data.texts[index]);

  const element = (tag, properties, ...children) => {
    const out = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name.includes('-') || name === 'role' || name === 'scope') out.setAttribute(name, value);
      else out[name] = value;
    }
    out.append(...children.filter((child) => child !== null && child !== ''));
    return out;
  };
  const tag = (state) => element('span', { className: `tag ${state.name}` }, `${state.sign} ${SHORT[state.name] || state.words}`);

  const cells = data.cells.map((cell, index) => ({ ...cell, index, state: stateOf(cell), lower: cell.id.toLowerCase() }));

  // ---- which cells are chosen ----
  const chosen = { words: [], states: new Set(), fields: new Map(), rows: -1, columns: -1 };
  let matching = cells;  // the worst first
  const byState = (list) => [...list].sort((a, b) => a.state.index - b.state.index || a.index - b.index);

  // What many cells share is searched once for all of them.
  const lower = (texts) => texts.map((one) => one.toLowerCase());
  const lowTexts = lower(data.texts);
  const lowTests = lower(data.tests.map((test) =>
    [test.id, test.part, test.status, test.reason, test.fault, test.summary, test.evidence].filter(Boolean).join(' ')));
  const finder = (word) => {
    const inText = lowTexts.map((one) => one.includes(word));
    const inTest = lowTests.map((one) => one.includes(word));
    const inList = data.lists.map((list) => list.some((test) => inTest[test]));
    const inImage = data.images.map((image) => image.id.toLowerCase().includes(word) || image.error.toLowerCase().includes(word));
    return (cell) => cell.lower.includes(word) || (cell.reason !== undefined && inText[cell.reason]) ||
      cell.findings?.some((one) => inText[one]) || (cell.tests !== undefined && inList[cell.tests]) ||
      (cell.image !== undefined && inImage[cell.image]);
  };

  const choose = () => {
    const finders = chosen.words.map(finder);
    const fields = [...chosen.fields];
    const passes = (cell) => fields.every(([field, value]) => cell.at[field] === value) && finders.every((finds) => finds(cell));
    const found = cells.filter(passes);
    const counts = STATES.map(() => 0);
    for (const cell of found) ++counts[cell.state.index];
    for (const button of $('states').children) button.firstChild.textContent = counts[STATE[button.dataset.state].index];
    matching = byState(chosen.states.size === 0 ? found : found.filter((cell) => chosen.states.has(cell.state)));
  };

  // ---- the grid ----
  let limit = { rows: GRID_STEP, columns: GRID_STEP };
  let boxes = [];  // [row][column] of those that are shown
  let shownBoxes = new Map();  // by row and column: what its element shows
  const valueOf = (cell, field) => (field < 0 ? 0 : cell.at[field]);
  const label = (field, value) => (field < 0 ? 'all' : value < 0 ? NOT_SET : data.values[field][value]);

  const fill = (box, list) => {
    const counts = STATES.map(() => 0);
    for (const cell of list) ++counts[cell.state.index];
    const key = list.length === 1 ? `one ${list[0].state.name}` : counts.join();
    if (shownBoxes.get(box) === key) return;
    shownBoxes.set(box, key);
    const there = STATES.filter((state) => counts[state.index] !== 0);
    const said = there.map((state) => `${counts[state.index]} ${state.words}`).join(', ');
    box.setAttribute('aria-label', list.length === 0 ? 'no cell' : said);
    box.title = said;
    if (there.length === 0) {
      box.className = 'empty';
      box.replaceChildren();
    } else if (there.length === 1) {
      box.className = there[0].name;
      const words = boxes[0].length <= WORDY_COLUMNS ? ` ${SHORT[there[0].name] || there[0].words}` : '';
      box.textContent = list.length === 1 ? there[0].sign + words : `${there[0].sign} ${list.length}`;
    } else {
      box.className = 'mixed';
      const bar = element('span', { className: 'bar' });
      for (const state of there) {
        const part = element('i', { className: state.name });
        part.style.flexGrow = counts[state.index];
        bar.append(part);
      }
      box.replaceChildren(...there.map((state) => element('span', { className: `part ${state.name}` }, `${state.sign}${counts[state.index]}`)), bar);
    }
  };

  let drawn = '';  // which rows and columns the table has
  const drawGrid = () => {
    const { rows, columns } = chosen;
    $('grid-section').hidden = rows < 0 && columns < 0;
    if ($('grid-section').hidden) return;
    const sorted = (set) => [...set].sort((a, b) => a - b);
    const lines = new Set(), across = new Set(), byBox = new Map();
    for (const cell of matching) {
      const row = valueOf(cell, rows), column = valueOf(cell, columns);
      lines.add(row);
      across.add(column);
      const key = row * 1e6 + column;
      const list = byBox.get(key);
      if (list) list.push(cell); else byBox.set(key, [cell]);
    }
    const allRows = sorted(lines), allColumns = sorted(across);
    const shownRows = allRows.slice(0, limit.rows), shownColumns = allColumns.slice(0, limit.columns);
    const shape = JSON.stringify([rows, columns, shownRows, shownColumns]);
    if (shape !== drawn) {
      drawn = shape;
      shownBoxes = new Map();
      const head = element('tr', { role: 'row' }, element('th', { scope: 'col', role: 'columnheader' },
        [rows, columns].filter((field) => field >= 0).map((field) => data.fields[field]).join(' \\ ')));
      for (const column of shownColumns) head.append(element('th', { scope: 'col', role: 'columnheader', title: label(columns, column) }, label(columns, column)));
      const body = element('tbody');
      boxes = shownRows.map((row) => {
        const line = element('tr', { role: 'row' }, element('th', { scope: 'row', role: 'rowheader', title: label(rows, row) }, label(rows, row)));
        const own = shownColumns.map(() => element('td', { role: 'gridcell', tabIndex: -1 }));
        line.append(...own);
        body.append(line);
        return own;
      });
      if (boxes.length !== 0 && boxes[0].length !== 0) boxes[0][0].tabIndex = 0;
      $('grid').replaceChildren(element('thead', {}, head), body);
    }
    shownRows.forEach((row, i) => shownColumns.forEach((column, j) => {
      const box = boxes[i][j];
      box.cells = byBox.get(row * 1e6 + column) || [];
      fill(box, box.cells);
    }));
    const hidden = [[allRows.length - shownRows.length, 'row'], [allColumns.length - shownColumns.length, 'column']]
      .filter(([number]) => number > 0).map(([number, noun]) => `${number} more ${noun}${number === 1 ? '' : 's'}`);
    $('grid-more').replaceChildren();
    if (hidden.length !== 0) {
      $('grid-more').append(`${hidden.join(' and ')} not shown. `, element('button', { type: 'button', onclick: () => {
        limit = { rows: limit.rows + GRID_STEP, columns: limit.columns + GRID_STEP };
        drawGrid();
      } }, 'Show more'));
    }
  };

  const placeOf = (box) => {
    for (let i = 0; i < boxes.length; ++i) {
      const j = boxes[i].indexOf(box);
      if (j >= 0) return [i, j];
    }
    return null;
  };
  const moveTo = (from, row, column) => {
    const to = boxes[Math.max(0, Math.min(row, boxes.length - 1))]?.[Math.max(0, Math.min(column, boxes[0].length - 1))];
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
  $('grid').addEventListener('keydown', (event) => {
    const place = placeOf(event.target);
    if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
    const [row, column] = place;
    const moves = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, Infinity], PageUp: [0, column], PageDown: [Infinity, column],
    };
    if (moves[event.key]) moveTo(event.target, ...moves[event.key]);
    else if (event.key === 'Enter' || event.key === ' ') openBox(event.target);
    else return;
    event.preventDefault();
  });
  $('grid').addEventListener('click', (event) => {
    const box = event.target.closest('td');
    if (box) openBox(box);
  });

  // ---- the list ----
  let listed = LIST_STEP;
  const says = (cell) => text(cell.reason) || text(cell.counts) || cell.verdict;
  const line = (cell) => element('li', {}, element('button', { type: 'button', onclick: (event) => openCell(cell, event.currentTarget) },
    tag(cell.state), element('span', { className: 'id' }, cell.id), element('span', { className: 'says' }, says(cell))));
  const drawList = () => {
    $('cells').replaceChildren(...matching.slice(0, listed).map(line));
    const left = matching.length - listed;
    $('cells-more').hidden = left <= 0;
    $('cells-more').textContent = `Show ${Math.min(left, LIST_STEP)} of ${left} more`;
    const all = cells.length;
    $('count').textContent = matching.length === all ? `${all} ${all === 1 ? 'cell' : 'cells'}` : `${matching.length} of ${all} cells`;
  };
  $('cells-more').onclick = () => {
    const first = listed;
    listed += LIST_STEP;
    drawList();
    $('cells').children[first]?.firstChild.focus();
  };

  const draw = () => {
    listed = LIST_STEP;
    choose();
    drawGrid();
    drawList();
  };

  // ---- the panel ----
  let openedFrom = null;
  const seconds = (number) => `${number.toFixed(number < 10 ? 2 : 1)} s`;
  const bytes = (number) => (number >= 1e9 ? `${(number / 1e9).toFixed(1)} GB` : `${Math.round(number / 1e6)} MB`);
  // A link only where the path can be nothing but one, relative to this page.
  const logLink = (path) => (/^[\w.@+~-][\w.@+~/-]*$/.test(path)
    ? element('a', { href: './' + path.split('/').map(encodeURIComponent).join('/') }, path)
    : element('span', { className: 'id' }, path));
  const facts = (rows) => {
    const list = element('dl', { className: 'facts' });
    for (const [name, value] of rows) {
      if (value === '' || value === undefined || value === null) continue;
      list.append(element('dt', {}, name), element('dd', {}, value));
    }
    return list;
  };

  const testState = (test) => (test.status === 'pass' ? (test.part === 'gpu' ? STATE.passed : STATE.static) : test.status === 'skip' ? STATE.skipped : STATE.failed);
  const testView = (test, milliseconds) => {
    const name = test.part ? `${test.id}[${test.part}]` : test.id;
    const state = testState(test);
    const time = milliseconds ? ` ${milliseconds} ms` : '';
    const out = element('div', { className: 'test' }, element('span', { className: `tag ${state.name}` }, `${state.sign} ${test.status}`), ' ',
      element('span', { className: 'id' }, name), element('span', { className: 'dim' }, time));
    const why = [test.reason, test.fault && `fault ${test.fault}`].filter(Boolean).join(', ');
    for (const words of [[why, test.summary].filter(Boolean).join(': '), test.hint && `hint: ${test.hint}`, test.code_path && `code: ${test.code_path}`, ...(test.metrics || [])])
      if (words) out.append(element('p', {}, words));
    if (test.evidence) out.append(element('pre', {}, test.evidence));
    return out;
  };
  const testsView = (cell) => {
    if (cell.tests === undefined) return [];
    const all = data.lists[cell.tests].map((test, i) => [data.tests[test], cell.ms?.[i]]);
    const red = all.filter(([test]) => testState(test) === STATE.failed);
    const others = all.filter(([test]) => testState(test) !== STATE.failed);
    const out = [element('h3', {}, 'Tests'), element('p', {}, text(cell.counts)), ...red.map((one) => testView(...one))];
    if (others.length !== 0) {
      const more = element('details', {}, element('summary', {}, `${others.length} that did not fail`));
      more.addEventListener('toggle', () => { if (more.open && more.children.length === 1) more.append(...others.map((one) => testView(...one))); });
      out.push(more);
    }
    return out;
  };
  const imageView = (cell) => {
    const image = data.images[cell.image];
    if (!image) return [];
    return [element('h3', {}, 'Image'), facts([
      ['id', element('span', { className: 'id' }, image.id)], ['build', image.build], ['error', image.error], ['digest', image.digest && element('span', { className: 'id' }, image.digest)],
      ['revision', image.revision], ['size', image.runtime_bytes ? bytes(image.runtime_bytes) : ''], ['time', image.seconds ? seconds(image.seconds) : ''],
      ['tests, each once', image.tests], ['drivers', image.drivers], ['log', image.log && logLink(image.log)]])];
  };
  const findingsView = (cell) => {
    if (!cell.findings?.length) return [];
    const list = element('ul');
    cell.findings.forEach((finding, i) => {
      const fix = text(cell.fixes?.[i]);
      list.append(element('li', {}, text(finding), fix ? element('p', {}, element('b', {}, 'fix: '), fix) : null));
    });
    return [element('h3', {}, 'Findings'), list];
  };

  const show = (title, content, from) => {
    const close = element('button', { type: 'button', onclick: closePanel, 'aria-label': 'Close' }, '×');
    $('panel').replaceChildren(element('div', { className: 'head' }, title, close), ...content);
    $('panel').hidden = false;
    $('panel').scrollTop = 0;
    if (from) openedFrom = from;
    $('panel').focus({ preventScroll: true });
  };
  const closePanel = () => {
    if ($('panel').hidden) return false;
    $('panel').hidden = true;
    for (const box of $('grid').querySelectorAll('[aria-selected]')) box.removeAttribute('aria-selected');
    if (openedFrom?.isConnected) openedFrom.focus();
    return true;
  };
  const copyButton = (words) => {
    const button = element('button', { type: 'button' }, 'Copy id');
    button.onclick = async () => {
      try {
        await navigator.clipboard.writeText(words);
        button.textContent = 'Copied';
      } catch {
        const range = document.createRange();
        range.selectNodeContents($('panel').querySelector('h2'));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = 'Selected';
      }
    };
    return button;
  };
  const openCell = (cell, from) => {
    const fields = cell.at.map((value, field) => [data.fields[field], value < 0 ? '' : data.values[field][value]]);
    show(element('h2', { className: 'id' }, cell.id), [
      element('p', {}, tag(cell.state), ' ', copyButton(cell.id)),
      facts([['verdict', cell.verdict], ['outcome', cell.outcome.replaceAll('_', ' ')], ['last run', cell.last], ['proof', cell.proof], ['reason', text(cell.reason)],
        ['time', cell.seconds ? seconds(cell.seconds) : ''], ['log', cell.log && logLink(cell.log)]]),
      ...findingsView(cell), ...testsView(cell), ...imageView(cell), element('h3', {}, 'Fields'), facts(fields)], from);
  };
  const openBox = (box) => {
    if (!box.cells?.length) return;
    for (const other of $('grid').querySelectorAll('[aria-selected]')) other.removeAttribute('aria-selected');
    box.setAttribute('aria-selected', 'true');
    if (box.cells.length === 1) return openCell(box.cells[0], box);
    const [row, column] = placeOf(box);
    const name = [[chosen.rows, box.cells[0]], [chosen.columns, box.cells[0]]].filter(([field]) => field >= 0)
      .map(([field, cell]) => `${data.fields[field]} ${label(field, cell.at[field])}`).join(', ');
    const list = element('ul', { className: 'list' }, ...box.cells.slice(0, 2 * LIST_STEP).map(line));
    const left = box.cells.length - 2 * LIST_STEP;
    show(element('h2', {}, name || `row ${row + 1}, column ${column + 1}`),
      [element('p', {}, `${box.cells.length} cells: ${box.title}`), list, left > 0 ? element('p', { className: 'dim' }, `and ${left} more: choose a filter`) : null].filter(Boolean), box);
  };

  // ---- controls ----
  const varying = data.fields.map((name, field) => ({ name, field, values: [...new Set(cells.map((cell) => cell.at[field]))] }))
    .filter((axis) => axis.values.length > 1);
  const axisSelect = (id, none) => {
    const select = $(id);
    if (none) select.append(element('option', { value: -1 }, 'none'));
    for (const axis of varying) select.append(element('option', { value: axis.field }, axis.name));
    select.value = chosen[id];
    select.onchange = () => {
      const other = id === 'rows' ? 'columns' : 'rows';
      const value = Number(select.value);
      if (value === chosen[other]) {
        chosen[other] = chosen[id];
        $(other).value = chosen[other];
      }
      chosen[id] = value;
      limit = { rows: GRID_STEP, columns: GRID_STEP };
      draw();
    };
  };
  const drawFilters = () => {
    $('filter-list').replaceChildren(...varying.map((axis) => {
      const select = element('select', {}, element('option', { value: '' }, 'any'));
      for (const value of axis.values.sort((a, b) => a - b)) select.append(element('option', { value }, label(axis.field, value)));
      select.onchange = () => {
        if (select.value === '') chosen.fields.delete(axis.field); else chosen.fields.set(axis.field, Number(select.value));
        draw();
      };
      return element('label', {}, axis.name, select);
    }));
    $('filters').hidden = varying.length === 0;
    $('filters').open = varying.length > 2 && matchMedia('(min-width: 60rem)').matches;
  };
  const drawStates = () => {
    for (const state of STATES) {
      if (!cells.some((cell) => cell.state === state)) continue;
      const button = element('button', { type: 'button', className: `states-button ${state.name}`, 'aria-pressed': 'false' },
        element('b', {}), ` ${state.sign} ${state.words}`);
      button.dataset.state = state.name;
      button.onclick = () => {
        if (!chosen.states.delete(state)) chosen.states.add(state);
        button.setAttribute('aria-pressed', String(chosen.states.has(state)));
        draw();
      };
      $('states').append(button);
    }
  };
  const search = () => {
    chosen.words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    draw();
  };
  $('search').addEventListener('input', search);
  $('clear').onclick = () => {
    $('search').value = '';
    chosen.states.clear();
    chosen.fields.clear();
    for (const button of $('states').children) button.setAttribute('aria-pressed', 'false');
    for (const select of $('filter-list').querySelectorAll('select')) select.value = '';
    search();
  };
  $('keys-open').onclick = () => $('keys').showModal();
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && !$('keys').open) {
      if (!closePanel() && $('search').value !== '') {
        $('search').value = '';
        search();
      }
    } else if (event.key === '/' && !typing) {
      event.preventDefault();
      $('search').focus();
      $('search').select();
    } else if (event.key === '?' && !typing && !$('keys').open) {
      $('keys').showModal();
    }
  });

  const drawImages = () => {
    const most = 200;
    $('images-section').hidden = data.images.length === 0;
    $('images').replaceChildren(...data.images.slice(0, most).map((image) => element('tr', {},
      element('td', { className: 'id' }, image.id), element('td', {}, element('span', { className: image.error ? 'tag failed' : '' }, image.build)),
      element('td', { className: 'number' }, image.runtime_bytes ? bytes(image.runtime_bytes) : ''),
      element('td', { className: 'number' }, image.seconds ? image.seconds.toFixed(1) : ''), element('td', { className: 'number' }, String(image.cells)),
      element('td', {}, image.tests), element('td', {}, image.drivers))));
    const left = data.images.length - most;
    $('images-more').textContent = left > 0 ? `and ${left} more: the details of their cells show them` : '';
  };

  // ---- start: by default the two axes with most values ----
  const most = [...varying].sort((a, b) => b.values.length - a.values.length || a.field - b.field);
  const [first, second] = most.slice(0, 2).map((axis) => axis.field).sort((a, b) => a - b);
  chosen.rows = first ?? -1;
  chosen.columns = second ?? -1;
  $('title').textContent = `${data.command} of ${data.matrix}`;
  $('closing').textContent = data.closing;
  $('about').textContent = [data.engine && `engine ${data.engine}`, data.seconds ? seconds(data.seconds) : '', `cudamatrix ${data.version}`, `facts ${data.facts.date}`].filter(Boolean).join(' · ');
  axisSelect('rows', false);
  axisSelect('columns', true);
  drawFilters();
  drawStates();
  draw();
  drawImages();
  $('app').hidden = false;
  performance.mark('report-ready');
})();
