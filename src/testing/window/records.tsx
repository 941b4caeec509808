import { computed, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Change, type Company, control, type Json, parseExactly, type RecordPage } from './api.ts';
import { prettyText } from './parts.tsx';
import { attempt, changes, place, say, state } from './store.ts';
import { agoText } from './text.ts';

const PAGE = 50;
/** A change is marked for so long. */
const RECENT_MS = 60_000;

const company = signal<Company>('main');
const search = signal('');
const offset = signal(0);

/** `#records/products/17`, or `new` in place of the id. */
const collection = computed(() => place.value[1] ?? 'products');
const id = computed(() => place.value[2]);

const addressOf = (name: string, record?: string) =>
  `#records/${name}${record === undefined ? '' : `/${encodeURIComponent(record)}`}`;

export function Records() {
  const counts = state.value?.records[company.value] ?? {};
  return (
    <div class={id.value === undefined ? 'records' : 'records has-editor'}>
      <nav class="card collections" aria-label="Collections">
        <fieldset class="tabs" aria-label="Company">
          {(['main', 'other'] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={company.value === name}
              onClick={() => {
                company.value = name;
                offset.value = 0;
              }}
            >
              {name === 'main' ? 'First company' : 'Other'}
            </button>
          ))}
        </fieldset>
        <ul>
          {Object.entries(counts).map(([name, count]) => (
            <li key={name}>
              <a
                href={addressOf(name)}
                aria-current={collection.value === name ? 'page' : undefined}
                onClick={() => {
                  offset.value = 0;
                }}
              >
                <span>{name}</span>
                <b>{count.toLocaleString('en')}</b>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="records-main">
        <Changes />
        <Collection />
      </div>
      {id.value !== undefined && <Editor key={`${company.value}/${collection.value}/${id.value}`} />}
    </div>
  );
}

const showsChanges = signal(false);

/** Who changed what last. */
function Changes() {
  const [last, ...others] = changes.value;
  const now = Date.parse(state.value?.clock.now ?? '');
  if (last === undefined) return null;
  return (
    <section class="card changes" aria-labelledby="changes-title">
      <header>
        <h2 id="changes-title">Last change</h2>
        <ChangeLine change={last} now={now} />
        {others.length > 0 && (
          <button
            type="button"
            class="button small"
            aria-expanded={showsChanges.value}
            onClick={() => {
              showsChanges.value = !showsChanges.value;
            }}
          >
            {showsChanges.value ? 'Show less' : `${others.length} before`}
          </button>
        )}
      </header>
      {showsChanges.value && (
        <ol>
          {others.map((change, index) => (
            <li key={index}>
              <ChangeLine change={change} now={now} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function ChangeLine({ change, now }: { readonly change: Change; readonly now: number }) {
  const { action, collection: name, id: record, at, key, fields } = change;
  return (
    <span class="change">
      <span class={`badge ${action}`}>
        {{ create: 'created', update: 'changed', delete: 'deleted' }[action]}
      </span>
      <a href={addressOf(name, record)}>
        {name} {record}
      </a>
      {action === 'update' && (
        <span class="dim">
          {fields.slice(0, 4).join(', ')}
          {fields.length > 4 ? ' …' : ''}
        </span>
      )}
      <span class="dim">
        by {byText(key)}, {agoText(now - Date.parse(at))}
      </span>
    </span>
  );
}

const byText = (key: string) => (key === 'control' ? 'window or HTTP' : `key ${key}`);

function Collection() {
  const page = useSignal<RecordPage | undefined>(undefined);
  const version = state.value?.changes;
  useEffect(() => {
    let isCurrent = true;
    const query = new URLSearchParams({
      company: company.value,
      search: search.value,
      offset: String(offset.value),
      limit: String(PAGE),
    });
    control<RecordPage>(`GET /records/${collection.value}?${query}`).then(
      (loaded) => {
        if (isCurrent) page.value = loaded;
      },
      (error: Error) => say(error.message, true),
    );
    return () => {
      isCurrent = false;
    };
  }, [
    collection.value,
    company.value,
    search.value,
    offset.value,
    version,
    state.value?.records[company.value][collection.value],
  ]);

  const loaded = page.value?.collection === collection.value ? page.value : undefined;
  return (
    <section class="card table-card" aria-labelledby="collection-title">
      <header class="section-bar">
        <h2 id="collection-title">{collection.value}</h2>
        <input
          type="search"
          class="input"
          placeholder="Search in every field"
          aria-label="Search records"
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
            offset.value = 0;
          }}
        />
        <a class="button primary" href={addressOf(collection.value, 'new')}>
          Add a record
        </a>
      </header>
      {loaded !== undefined && <RecordTable page={loaded} />}
    </section>
  );
}

/** The fields that say most about a record, in this order, then its other ones. */
const FIRST = [
  'name',
  'number',
  'productNumber',
  'accountNumber',
  'code',
  'status',
  'salePrice',
  'amount',
  'city',
  'email',
];

function columnsOf(records: readonly Json[]): readonly string[] {
  const names = new Set(records.slice(0, 20).flatMap((record) => Object.keys(record)));
  const isPlain = (name: string) =>
    records.some((record) => record[name] !== null && typeof record[name] !== 'object');
  const others = [...names].filter(
    (name) => !FIRST.includes(name) && !['id', 'createdAt', 'updatedAt'].includes(name),
  );
  const chosen = [...FIRST.filter((name) => names.has(name)), ...others].filter(isPlain).slice(0, 4);
  return ['id', ...chosen, ...(names.has('updatedAt') ? ['updatedAt'] : [])];
}

function RecordTable({ page }: { readonly page: RecordPage }) {
  const { records, found, count } = page;
  if (count === 0)
    return (
      <p class="no-rows">
        No records yet. <a href={addressOf(page.collection, 'new')}>Add one</a>, or start the sandbox with{' '}
        <code>--records 5000</code>.
      </p>
    );
  if (found === 0) return <p class="no-rows">No record contains “{search.value}”.</p>;
  const columns = columnsOf(records);
  const now = Date.parse(state.value?.clock.now ?? '');
  const lastChanges = new Map(page.changes.map((change) => [change.id, change]));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard. */}
      <section class="scroll" tabIndex={0} aria-label={`Records of ${page.collection}`}>
        <table class="record-table">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">last change</th>
            </tr>
          </thead>
          <tbody>
            {records.map((record) => {
              const change = lastChanges.get(record.id);
              const isRecent = change !== undefined && now - Date.parse(change.at) < RECENT_MS;
              return (
                <tr
                  key={record.id}
                  class={isRecent ? 'recent' : undefined}
                  aria-selected={id.value === record.id || undefined}
                >
                  {columns.map((name) => (
                    <td key={name}>
                      {name === 'id' ? (
                        <a href={addressOf(page.collection, String(record.id))}>{String(record.id)}</a>
                      ) : (
                        cellText(Object.hasOwn(record, name) ? record[name] : undefined)
                      )}
                    </td>
                  ))}
                  <td>
                    {change === undefined ? (
                      <span class="dim">–</span>
                    ) : (
                      `${byText(change.key)}, ${agoText(now - Date.parse(change.at))}`
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {found > PAGE && (
        <footer class="pager">
          <button
            type="button"
            class="button small"
            disabled={offset.value === 0}
            onClick={() => {
              offset.value = Math.max(0, offset.value - PAGE);
            }}
          >
            Previous
          </button>
          <span class="dim">
            {offset.value + 1} to {Math.min(found, offset.value + PAGE)} of {found.toLocaleString('en')}
          </span>
          <button
            type="button"
            class="button small"
            disabled={offset.value + PAGE >= found}
            onClick={() => {
              offset.value += PAGE;
            }}
          >
            Next
          </button>
        </footer>
      )}
    </>
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : prettyText(value).replaceAll(/\s+/g, ' ');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** Edits, adds or deletes a record, as another user of the service would. */
function Editor() {
  const isNew = id.value === 'new';
  const path = `/records/${collection.value}${isNew ? '' : `/${encodeURIComponent(id.value ?? '')}`}?company=${company.value}`;
  const before = useSignal<Json | undefined>(undefined);
  const text = useSignal(isNew ? '{\n  "name": ""\n}' : '');
  useEffect(() => {
    if (isNew) return;
    control<Json>(`GET ${path}`).then(
      (record) => {
        before.value = record;
        text.value = prettyText(record);
      },
      (error: Error) => {
        say(error.message, true);
        location.hash = addressOf(collection.value);
      },
    );
  }, [path]);

  const save = async (event: Event) => {
    event.preventDefault();
    const given = read(text.value);
    if (given === undefined) return;
    if (isNew) {
      const made = { id: '' };
      const isDone = await attempt(
        async () => Object.assign(made, await control<Json>(`POST ${path}`, given)),
        'The record was added.',
      );
      if (isDone) location.hash = addressOf(collection.value, made.id);
      return;
    }
    const changed = changedFields(before.value ?? {}, given);
    if (Object.keys(changed).length === 0) return say('Nothing has changed.');
    await attempt(
      async () => {
        const record = await control<Json>(`PATCH ${path}`, changed);
        before.value = record;
        text.value = prettyText(record);
      },
      `Changed ${Object.keys(changed).join(', ')}.`,
    );
  };
  const remove = async () => {
    const isDone = await attempt(
      () => control(`DELETE ${path}`),
      `${collection.value} ${id.value} was deleted.`,
    );
    if (isDone) location.hash = addressOf(collection.value);
  };
  return (
    <form class="card editor" aria-labelledby="editor-title" onSubmit={save}>
      <header class="section-bar">
        <h2 id="editor-title">
          {isNew ? `New record of ${collection.value}` : `${collection.value} ${id.value}`}
        </h2>
        <a class="button small" href={addressOf(collection.value)}>
          Close
        </a>
      </header>
      <textarea
        class="input mono"
        spellcheck={false}
        aria-label="Record as JSON"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <footer>
        <button type="submit" class="button primary">
          {isNew ? 'Add' : 'Save'}
        </button>
        {!isNew && (
          <button type="button" class="button danger" onClick={remove}>
            Delete
          </button>
        )}
        <span class="dim">
          {isNew
            ? 'The service fills what you leave out.'
            : 'Only the fields that you change are sent. null clears one; amounts are strings.'}
        </span>
      </footer>
    </form>
  );
}

/** The object in a text; says what is wrong with any other. */
function read(text: string): Json | undefined {
  try {
    const value = parseExactly(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
    say('A record is a JSON object.', true);
  } catch (error) {
    say(`This is not JSON: ${(error as Error).message}`, true);
  }
  return undefined;
}

function changedFields(before: Json, after: Json): Json {
  const isSame = (name: string) => prettyText(before[name] ?? null) === prettyText(after[name] ?? null);
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  // A field that was taken out of the text is cleared.
  return Object.fromEntries(
    [...names].filter((name) => !isSame(name)).map((name) => [name, after[name] ?? null]),
  );
}
