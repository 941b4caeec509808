import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { options as optionDocs } from 'table-docs';
import { control, type Key, type OptionRow } from './api.ts';
import { Copy, Field, Prose } from './parts.tsx';
import { attempt, state } from './store.ts';
import { countText } from './text.ts';

export function Service() {
  return (
    <div class="service">
      <div>
        <Clock />
        <Reset />
      </div>
      <Keys />
      <Options />
    </div>
  );
}

const STEPS: readonly (readonly [string, number])[] = [
  ['+1 min', 60_000],
  ['+1 h', 3_600_000],
  ['+1 day', 86_400_000],
];

function Clock() {
  const given = useSignal('');
  const now = state.value?.clock.now ?? '';
  const move = (change: Record<string, unknown>, done: string) =>
    attempt(() => control('POST /clock', change), done);
  return (
    <section class="card" aria-labelledby="clock-title">
      <h2 id="clock-title">Clock</h2>
      <p class="clock mono">{now.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</p>
      <div class="buttons">
        {STEPS.map(([text, ms]) => (
          <button
            key={text}
            type="button"
            class="button"
            onClick={() => move({ advanceMs: ms }, `The clock was moved forward by ${text.slice(1)}.`)}
          >
            {text}
          </button>
        ))}
        <button type="button" class="button" onClick={() => move({ freeze: true }, 'The clock has stopped.')}>
          Stop
        </button>
      </div>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          void move({ set: given.value }, 'The clock was set.');
        }}
      >
        <Field label="Set to" hint="A timestamp, such as 2026-01-31T12:00:00Z.">
          {(tied) => (
            <input
              {...tied}
              class="input"
              required
              value={given.value}
              onInput={({ currentTarget }) => {
                given.value = currentTarget.value;
              }}
            />
          )}
        </Field>
        <button type="submit" class="button">
          Set
        </button>
      </form>
      <p class="dim">It governs updatedAt, quotas and idempotency keys.</p>
    </section>
  );
}

function Reset() {
  const isAsked = useSignal(false);
  const reset = async () => {
    isAsked.value = false;
    await attempt(() => control('POST /reset'), 'The sandbox is as it was at its start.');
  };
  return (
    <section class="card" aria-labelledby="reset-title">
      <h2 id="reset-title">Reset</h2>
      <p class="dim">
        Records, keys, clock and quotas as they were at the start; no faults, and an empty log.
      </p>
      {isAsked.value ? (
        <div class="buttons">
          <button type="button" class="button danger" onClick={reset}>
            Reset everything
          </button>
          <button
            type="button"
            class="button"
            onClick={() => {
              isAsked.value = false;
            }}
          >
            Cancel
          </button>
        </div>
      ) : (
        <button
          type="button"
          class="button"
          onClick={() => {
            isAsked.value = true;
          }}
        >
          Reset …
        </button>
      )}
    </section>
  );
}

const access = signal('full');

function Keys() {
  const keys = Object.entries(state.value?.keys ?? {});
  return (
    <section class="card" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <ul class="keys">
        {keys.map(([name, key]) => (
          <KeyRow key={name} name={name} entry={key} />
        ))}
      </ul>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(() => control('POST /keys', { access: access.value }), 'A key was issued.');
        }}
      >
        <Field label="Another key">
          {(tied) => (
            <select
              {...tied}
              class="input"
              value={access.value}
              onChange={({ currentTarget }) => {
                access.value = currentTarget.value;
              }}
            >
              <option value="full">reads and writes</option>
              <option value="read">only reads</option>
              <option value="none">has no rights</option>
            </select>
          )}
        </Field>
        <button type="submit" class="button">
          Issue
        </button>
      </form>
    </section>
  );
}

function KeyRow({ name, entry }: { readonly name: string; readonly entry: Key }) {
  const { key, company, access: rights, collections, isRevoked, quota } = entry;
  const words = {
    full: 'reads and writes',
    read: 'reads',
    none: 'has no rights',
  }[rights];
  const what = rights === 'none' ? '' : ` ${collections?.join(', ') ?? 'everything'}`;
  return (
    <li class={isRevoked ? 'revoked' : undefined}>
      <div>
        <b>{name}</b>
        <p class="dim">
          {isRevoked
            ? 'revoked: 401'
            : `${words}${what}${company === 'other' ? ' of the other company' : ''}`}
        </p>
        <code>{key}</code>
      </div>
      {quota !== null && (
        <div class="quota">
          <meter min={0} max={quota.limit} value={quota.remaining} aria-label={`Quota left to ${name}`} />
          <span class="dim">
            {quota.remaining.toLocaleString('en')} of {quota.limit.toLocaleString('en')}
          </span>
        </div>
      )}
      <div class="buttons">
        <Copy text={key} />
        {!isRevoked && (
          <button
            type="button"
            class="button small"
            aria-label={`Revoke ${name}`}
            onClick={() =>
              attempt(
                () => control(`DELETE /keys/${encodeURIComponent(key)}`),
                `${name} gets a 401 from now on.`,
              )
            }
          >
            Revoke
          </button>
        )}
      </div>
    </li>
  );
}

/** Options as they are; those that differ from their defaults first. */
function Options() {
  const rows = useSignal<readonly OptionRow[]>([]);
  const options = JSON.stringify(state.value?.options);
  useEffect(() => {
    control<{ readonly options: readonly OptionRow[] }>('GET /options').then(
      (loaded) => {
        rows.value = loaded.options;
      },
      () => {},
    );
  }, [options]);
  const isChanged = ({ value, default: usual }: OptionRow) => JSON.stringify(value) !== JSON.stringify(usual);
  const changed = rows.value.filter(isChanged);
  const others = rows.value.filter((row) => !isChanged(row));
  return (
    <section class="card options" aria-labelledby="options-title">
      <h2 id="options-title">Options</h2>
      <OptionList rows={changed} />
      <details>
        <summary>{countText(others.length, 'option')} with the default</summary>
        <OptionList rows={others} />
      </details>
    </section>
  );
}

function OptionList({ rows }: { readonly rows: readonly OptionRow[] }) {
  return (
    <dl class="option-list">
      {rows.map(({ name, value, default: usual, expected }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <code class="value">{JSON.stringify(value)}</code>
            {JSON.stringify(value) !== JSON.stringify(usual) && (
              <span class="dim"> default {JSON.stringify(usual)}</span>
            )}
            <p class="dim">
              <Prose text={optionDocs[name] ?? expected} />
            </p>
          </dd>
        </div>
      ))}
    </dl>
  );
}
