import { computed, signal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Empty } from './empty.tsx';
import { RequestDetail } from './request-detail.tsx';
import { entries, follow, isEmpty, place, revision } from './store.ts';
import { decoded, timeText } from './text.ts';
import { type Entry, type Outcome, outcomeOf, outcomeText } from './timeline/entry.ts';
import { Timeline } from './timeline/timeline.ts';
import { durationText, type View } from './timeline/view.ts';

const search = signal('');
/** The group that is shown; undefined for all. */
const chosen = signal<string | undefined>(undefined);
const follows = signal(true);
/** What the timeline has shown last, while another page is shown. */
let pausedAt: View = { start: 0, end: 1 };

/** The request that is open, from the address. */
export const selected = computed(() => {
  const [page, number] = place.value;
  return page === 'requests' && number !== undefined ? Number(number) : undefined;
});

export function open(number: number | undefined): void {
  location.hash = number === undefined ? 'requests' : `requests/${number}`;
}

const OUTCOMES: readonly (readonly [Outcome, string])[] = [
  ['success', '2xx'],
  ['redirect', '3xx'],
  ['rejected', '4xx'],
  ['failed', '5xx'],
  ['lost', 'no response'],
  ['running', 'running'],
];

/** What a chip filters by: an error by its status, anything else by its outcome. */
function groupOf(entry: Entry): string {
  const kind = outcomeOf(entry);
  return kind === 'rejected' || kind === 'failed' ? String(entry.status) : kind;
}

interface Group {
  readonly name: string;
  readonly outcome: Outcome;
  readonly text: string;
  readonly count: number;
}

/** The groups that have requests, errors by their status. */
const groups = computed((): readonly Group[] => {
  const found = new Map<string, Group>();
  if (revision.value >= 0)
    for (const entry of entries.values()) {
      const name = groupOf(entry);
      const kind = outcomeOf(entry);
      const text = OUTCOMES.find(([one]) => one === name)?.[1] ?? name;
      found.set(name, { name, outcome: kind, text, count: (found.get(name)?.count ?? 0) + 1 });
    }
  const place = ({ outcome: kind }: Group) => OUTCOMES.findIndex(([name]) => name === kind);
  return [...found.values()].toSorted(
    (one, other) => place(one) - place(other) || one.name.localeCompare(other.name),
  );
});

/** Newest first. */
const shown = computed(() => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = revision.value >= 0 ? [...entries.values()].reverse() : [];
  if (words.length === 0 && chosen.value === undefined) return all;
  return all.filter(
    (entry) =>
      (chosen.value === undefined || groupOf(entry) === chosen.value) &&
      words.every((word) => textOf(entry).includes(word)),
  );
});

function textOf({ number, method, url, status, key, idempotencyKey, fault, error }: Entry): string {
  return [`#${number}`, method, decoded(url), status, key ?? 'none', idempotencyKey, fault, error]
    .join(' ')
    .toLowerCase();
}

export function Requests() {
  if (isEmpty.value) return <Empty />;
  return (
    <div class={selected.value === undefined ? 'requests' : 'requests has-detail'}>
      <div class="requests-main">
        <TimelineCard />
        <Filters />
        <Table />
      </div>
      {selected.value !== undefined && <RequestDetail number={selected.value} />}
    </div>
  );
}

function TimelineCard() {
  const holder = useRef<HTMLDivElement>(null);
  const timeline = useRef<Timeline>(null);
  useEffect(() => {
    const made = new Timeline(holder.current as HTMLDivElement, {
      onSelect: open,
      onFollow: (is) => {
        follows.value = is;
      },
    });
    timeline.current = made;
    if (!follows.value) made.view = pausedAt;
    made.select(selected.peek());
    const stop = follow(made);
    return () => {
      stop();
      pausedAt = made.view;
      made.destroy();
    };
  }, []);
  useSignalEffect(() => timeline.current?.select(selected.value));
  return (
    <section class="card timeline-card" aria-labelledby="timeline-title">
      <header class="timeline-bar">
        <h2 id="timeline-title">Timeline</h2>
        <Legend />
        <div class="buttons">
          <button
            type="button"
            class="button small"
            aria-pressed={follows.value}
            onClick={() => {
              if (timeline.current) timeline.current.follows = !timeline.current.follows;
            }}
          >
            {follows.value ? 'Pause' : 'Follow'}
          </button>
          <button
            type="button"
            class="button small"
            aria-label="Zoom out"
            onClick={() => timeline.current?.zoom(1.6)}
          >
            −
          </button>
          <button
            type="button"
            class="button small"
            aria-label="Zoom in"
            onClick={() => timeline.current?.zoom(0.6)}
          >
            +
          </button>
          <button type="button" class="button small" onClick={() => timeline.current?.fit()}>
            Fit
          </button>
        </div>
      </header>
      <div class="timeline" ref={holder} />
    </section>
  );
}

function Legend() {
  return (
    <ul class="legend">
      {OUTCOMES.filter(([name]) => groups.value.some((group) => group.outcome === name)).map(
        ([name, text]) => (
          <li key={name}>
            <i class={`swatch ${name}`} />
            {text}
          </li>
        ),
      )}
      <li>
        <i class="swatch fault" />
        fault
      </li>
      <li>
        <i class="swatch retry" />
        retry
      </li>
      <li>
        <i class="swatch wait" />
        wait
      </li>
    </ul>
  );
}

function Filters() {
  const count = shown.value.length;
  return (
    <div class="filters">
      <input
        type="search"
        class="input"
        placeholder="Filter by path, key, fault …"
        aria-label="Filter requests"
        value={search.value}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value;
        }}
      />
      <fieldset class="chips" aria-label="Status">
        <Chip name={undefined} text="all" count={entries.size} />
        {groups.value.map((group) => (
          <Chip key={group.name} {...group} />
        ))}
      </fieldset>
      <span class="dim" role="status">
        {count.toLocaleString('en')} of {entries.size.toLocaleString('en')}
      </span>
    </div>
  );
}

function Chip({
  name,
  outcome,
  text,
  count,
}: {
  readonly name: string | undefined;
  readonly outcome?: Outcome;
  readonly text: string;
  readonly count: number;
}) {
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={chosen.value === name}
      onClick={() => {
        chosen.value = chosen.value === name ? undefined : name;
      }}
    >
      {outcome !== undefined && <i class={`swatch ${outcome}`} />}
      {text} <b>{count.toLocaleString('en')}</b>
    </button>
  );
}

const ROW_HEIGHT = 32;
/** Rows beyond what is seen. */
const SPARE = 12;

const scrollTop = signal(0);
const seenHeight = signal(600);

const COLUMNS = ['#', 'Time', 'Method', 'Path', 'Status', 'Duration', 'Records', 'Fault', 'Key'];

/** Only the rows that are seen, and some beyond, are in the page. */
function Table() {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = shown.value;
  const before = useRef(rows.length);
  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const observer = new ResizeObserver(() => {
      seenHeight.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // What is read stays where it is when rows are added above it.
  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const added = rows.length - before.current;
    before.current = rows.length;
    if (added > 0 && element.scrollTop > ROW_HEIGHT) element.scrollTop += added * ROW_HEIGHT;
  }, [rows.length]);

  // A filter may leave fewer rows than were scrolled by.
  const first = Math.max(0, Math.min(rows.length, Math.floor(scrollTop.value / ROW_HEIGHT)) - SPARE);
  const last = Math.min(rows.length, Math.ceil((scrollTop.value + seenHeight.value) / ROW_HEIGHT) + SPARE);
  return (
    <section
      class="card request-table"
      aria-label="List of requests"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        scrollTop.value = currentTarget.scrollTop;
      }}
      onKeyDown={onKey}
    >
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th key={title} scope="col" class={classOf(title)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Gap rows={first} />}
          {rows.slice(first, last).map((entry, index) => (
            <Row key={entry.number} entry={entry} index={first + index + 2} />
          ))}
          {last < rows.length && <Gap rows={rows.length - last} />}
        </tbody>
      </table>
      {rows.length === 0 && <p class="no-rows">No request fits the filter.</p>}
    </section>
  );
}

const classOf = (title: string) => `cell-${title === '#' ? 'number' : title.toLowerCase()}`;

/** In place of rows that are not seen. */
function Gap({ rows }: { readonly rows: number }) {
  return (
    <tr class="gap">
      <td style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

function Row({ entry, index }: { readonly entry: Entry; readonly index: number }) {
  const { number, method, url, startedAt, durationMs, records, fault, key } = entry;
  const kind = outcomeOf(entry);
  const path = decoded(url);
  return (
    // The number is a link for the keyboard.
    <tr
      aria-rowindex={index}
      class={selected.value === number ? 'is-selected' : undefined}
      onClick={() => open(number)}
    >
      <td class="cell-number">
        <a href={`#requests/${number}`}>{number}</a>
      </td>
      <td class="cell-time">{timeText(startedAt)}</td>
      <td class="cell-method">{method}</td>
      <td class="cell-path" title={path}>
        {path.replace(/^\/api\/public\/v1/, '')}
      </td>
      <td class="cell-status">
        <i class={`swatch ${kind}`} />
        <span class={`status ${kind}`}>{outcomeText(entry)}</span>
      </td>
      <td class="cell-duration">{durationMs === null ? '…' : durationText(durationMs)}</td>
      <td class="cell-records">{records}</td>
      <td class="cell-fault">{fault !== null && <span class="fault-name">{fault}</span>}</td>
      <td class="cell-key">{key ?? 'none'}</td>
    </tr>
  );
}

/** Arrows choose another request. */
function onKey(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const rows = shown.value;
  const at = rows.findIndex(({ number }) => number === selected.value);
  const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
  const { number } = rows[next] ?? {};
  if (number === undefined) return;
  open(number);
  const body = event.currentTarget as HTMLElement;
  const top = next * ROW_HEIGHT;
  const room = body.clientHeight - 2 * ROW_HEIGHT;
  if (top < body.scrollTop) body.scrollTop = top;
  else if (top > body.scrollTop + room) body.scrollTop = top - room;
}
