import { batch, computed, signal } from '@preact/signals';
import { conditions as conditionDocs, fields as fieldDocs, kinds as kindDocs } from 'table-docs';
import { type Check, type Checks, control, type Json, type RecordPage, type Rule } from './api.ts';
import { ruleCode, ruleCurl, ruleFlag } from './code.ts';
import { Code, Field, Prose, Switch } from './parts.tsx';
import { attempt, state, tables } from './store.ts';
import { countText } from './text.ts';

interface Preset {
  readonly title: string;
  readonly text: string;
  readonly rule: () => Json | Promise<Json>;
}

const PRESETS: readonly Preset[] = [
  {
    title: 'Responses lost',
    text: 'The next create is stored, but its response never arrives.',
    rule: () => ({ kind: 'lost-response', committed: true, method: 'POST', times: 1 }),
  },
  {
    title: 'Service down',
    text: 'Every request gets a 503, until you switch it off.',
    rule: () => ({ kind: 'status', status: 503 }),
  },
  {
    title: 'Slow',
    text: 'Every response comes two seconds late.',
    rule: () => ({ kind: 'delay', ms: 2000 }),
  },
  {
    title: 'One record broken',
    text: 'Every request for the first product gets a 500.',
    rule: async () => {
      const { records } = await control<RecordPage>('GET /records/products?limit=1');
      const path = `/api/public/v1/products/${encodeURIComponent(records[0]?.id ?? '1')}`;
      return { kind: 'status', status: 500, path };
    },
  },
];

const kind = signal('lost-response');
/** The text of each field and condition; an empty one is left out. */
const values = signal<Readonly<Record<string, string>>>({ committed: 'true', method: 'POST', times: '1' });

const fields = computed((): { readonly required: Checks; readonly optional: Checks } => {
  const { required = {}, optional = {} } = tables.value?.kinds[kind.value] ?? {};
  return { required, optional };
});

const draft = computed((): Json => {
  const { required, optional } = fields.value;
  const checks = { ...required, ...optional, ...tables.value?.conditions };
  const given = Object.entries(checks).flatMap(([name, check]) => {
    const text = values.value[name] ?? '';
    return text.trim() === '' ? [] : [[name, valueIn(text, check)] as const];
  });
  return { kind: kind.value, ...Object.fromEntries(given) };
});

/** Another kind of fault, with the conditions of the last one. */
function choose(name: string): void {
  const conditions = tables.value?.conditions ?? {};
  batch(() => {
    values.value = Object.fromEntries(
      Object.entries(values.value).filter(([field]) => Object.hasOwn(conditions, field)),
    );
    kind.value = name;
  });
}

/** A text as a value of the kind that is expected. */
function valueIn(text: string, { expected, values: allowed }: Check): unknown {
  if (expected === 'true or false') return text === 'true';
  const chosen = allowed?.find((value) => String(value) === text);
  if (chosen !== undefined) return chosen;
  if (/number|status/.test(expected) && /^-?\d+(?:\.\d+)?$/.test(text.trim())) return Number(text);
  if (!/object/.test(expected) || !text.trim().startsWith('{')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function Faults() {
  return (
    <div class="faults">
      <div class="faults-main">
        <Presets />
        <Builder />
      </div>
      <ActiveFaults />
    </div>
  );
}

const add = (rule: Json, done: string) => attempt(() => control('POST /faults', rule), done);

function Presets() {
  return (
    <section aria-labelledby="presets-title">
      <h2 id="presets-title">Try what can go wrong</h2>
      <div class="presets">
        {PRESETS.map(({ title, text, rule }) => (
          <button
            key={title}
            type="button"
            class="card preset"
            onClick={() => attempt(async () => control('POST /faults', await rule()), `${title}: added.`)}
          >
            <b>{title}</b>
            <span>{text}</span>
          </button>
        ))}
        <button
          type="button"
          class="card preset"
          onClick={() =>
            attempt(
              () => control('POST /quota', { limit: 10, windowMs: 10_000 }),
              'Each key has 10 requests in 10 s now.',
            )
          }
        >
          <b>Quota of 10</b>
          <span>Each key has 10 requests in 10 seconds.</span>
        </button>
      </div>
    </section>
  );
}

function Builder() {
  const { required, optional } = fields.value;
  const submit = (event: Event) => {
    event.preventDefault();
    void add(draft.value, `Added the fault ${kind.value}.`);
  };
  return (
    <form class="card builder" aria-labelledby="builder-title" onSubmit={submit}>
      <h2 id="builder-title">Build a fault</h2>
      <Field label="What happens">
        {(tied) => (
          <select
            {...tied}
            class="input"
            value={kind.value}
            onChange={({ currentTarget }) => {
              choose(currentTarget.value);
            }}
          >
            {Object.keys(tables.value?.kinds ?? {}).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      <p class="kind-text">
        <Prose text={kindDocs[kind.value] ?? ''} />
      </p>
      <div class="fields">
        {Object.entries(required).map(([name, check]) => (
          <ValueField
            key={name}
            name={name}
            check={check}
            doc={fieldDocs[`${kind.value}.${name}`]}
            isRequired
          />
        ))}
        {Object.entries(optional).map(([name, check]) => (
          <ValueField key={name} name={name} check={check} doc={fieldDocs[`${kind.value}.${name}`]} />
        ))}
      </div>
      <fieldset>
        <legend>Which requests meet it</legend>
        <div class="fields">
          {Object.entries(tables.value?.conditions ?? {}).map(([name, check]) => (
            <ValueField
              key={name}
              name={name}
              check={withChoices(name, check)}
              doc={conditionDocs[name]}
              unset="any"
            />
          ))}
        </div>
      </fieldset>
      <footer>
        <button type="submit" class="button primary">
          Add the fault
        </button>
      </footer>
      <RuleCode rule={draft.value} isOpen />
    </form>
  );
}

/** A condition that has few values, although any string is allowed. */
function withChoices(name: string, check: Check): Check {
  const choices: Readonly<Record<string, readonly string[]>> = {
    method: ['GET', 'POST', 'PATCH', 'DELETE'],
    collection: Object.keys(state.value?.records.main ?? {}),
  };
  const found = choices[name];
  return found === undefined ? check : { ...check, values: found };
}

function ValueField({
  name,
  check,
  doc,
  isRequired = false,
  unset = 'default',
}: {
  readonly name: string;
  readonly check: Check;
  readonly doc: string | undefined;
  readonly isRequired?: boolean;
  /** What stands for no value. */
  readonly unset?: string;
}) {
  const choices = check.expected === 'true or false' ? ['true', 'false'] : check.values?.map(String);
  const set = (text: string) => {
    values.value = { ...values.value, [name]: text };
  };
  const value = values.value[name] ?? '';
  return (
    <Field label={name} hint={doc} isCode>
      {(tied) =>
        choices === undefined ? (
          <input
            {...tied}
            class="input"
            required={isRequired}
            value={value}
            placeholder={check.expected}
            inputMode={/number|status/.test(check.expected) ? 'decimal' : 'text'}
            onInput={({ currentTarget }) => set(currentTarget.value)}
          />
        ) : (
          <select
            {...tied}
            class="input"
            required={isRequired}
            value={value}
            onChange={({ currentTarget }) => set(currentTarget.value)}
          >
            <option value="">{isRequired ? 'Choose' : unset}</option>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        )
      }
    </Field>
  );
}

/** The same fault in code, over HTTP and as a flag. */
function RuleCode({ rule, isOpen = false }: { readonly rule: Json; readonly isOpen?: boolean }) {
  return (
    <details class="rule-code" open={isOpen}>
      <summary>From your tests</summary>
      <Code label="TypeScript" text={ruleCode(rule, Object.keys(tables.value?.conditions ?? {}))} />
      <Code label="HTTP" text={ruleCurl(rule, location.origin)} />
      <Code label="Command" text={ruleFlag(rule)} />
    </details>
  );
}

/** Those that have ended are shown only if they were not added again. */
const listed = computed((): readonly Rule[] => {
  const seen = new Set<string>();
  const rules = (state.value?.faults ?? []).toSorted(
    (one, other) => Number(other.active) - Number(one.active) || other.id - one.id,
  );
  return rules.filter(({ active, rule }) => {
    const text = JSON.stringify(rule);
    if (!active && seen.has(text)) return false;
    seen.add(text);
    return true;
  });
});

function ActiveFaults() {
  const rules = listed.value;
  const active = rules.filter((rule) => rule.active).length;
  return (
    <section class="card active-faults" aria-labelledby="active-title">
      <header class="section-bar">
        <h2 id="active-title">{active === 0 ? 'No active fault' : countText(active, 'active fault')}</h2>
        {active > 0 && (
          <button
            type="button"
            class="button small"
            onClick={() => attempt(() => control('DELETE /faults'), 'All faults have ended.')}
          >
            End all
          </button>
        )}
      </header>
      {rules.length === 0 && state.value?.quota.isChanged !== true && (
        <p class="dim">Choose one on this page. Each request meets the oldest fault that matches it.</p>
      )}
      <ul>
        <QuotaRow />
        {rules.map((rule) => (
          <FaultRow key={rule.id} {...rule} />
        ))}
      </ul>
    </section>
  );
}

/** A quota that was changed here. */
function QuotaRow() {
  const { limits = false, isChanged = false } = state.value?.quota ?? {};
  if (!isChanged || limits === false) return null;
  const text = `limit ${limits.limit} · windowMs ${limits.windowMs}`;
  const restore = () => attempt(() => control('DELETE /quota'), 'The quota is that of the options again.');
  return (
    <li class="fault-row">
      <Switch isOn label={`quota ${text}`} onChange={restore} />
      <div>
        <b class="mono">quota</b>
        <p class="mono dim">{text}</p>
      </div>
    </li>
  );
}

function FaultRow({ id, active, hits, rule }: Rule) {
  const { kind: name, ...rest } = rule;
  const change = () =>
    active
      ? attempt(() => control(`DELETE /faults/${id}`), 'The fault has ended.')
      : add(rule, `Added the fault ${String(name)} again.`);
  return (
    <li class={active ? 'fault-row' : 'fault-row ended'}>
      <Switch isOn={active} label={`${String(name)} ${JSON.stringify(rest)}`} onChange={change} />
      <div>
        <b class="mono">{String(name)}</b>
        <p class="mono dim">
          {Object.entries(rest)
            .map(([field, value]) => `${field} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
            .join(' · ')}
        </p>
      </div>
      <span class="hits">
        <b>{hits.toLocaleString('en')}</b> met
      </span>
      <RuleCode rule={rule} />
    </li>
  );
}
