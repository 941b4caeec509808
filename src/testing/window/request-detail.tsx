import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { control, type Json, type Request, type Rule } from './api.ts';
import { curlOf, testOf } from './code.ts';
import { Copy, JsonView } from './parts.tsx';
import { entries, revision, state, tables } from './store.ts';
import { bytesText, countText, decoded, timeText } from './text.ts';
import { outcomeOf, outcomeText } from './timeline/entry.ts';
import { durationText } from './timeline/view.ts';

/** A request and its response, beside the table. */
export function RequestDetail({ number }: { readonly number: number }) {
  const request = useSignal<Request | 'gone' | undefined>(undefined);
  const title = useRef<HTMLHeadingElement>(null);
  // It may still be running, or not have arrived.
  const durationMs = revision.value >= 0 ? entries.get(number)?.durationMs : undefined;
  useEffect(() => {
    let isCurrent = true;
    control<Request>(`GET /requests/${number}`).then(
      (loaded) => {
        if (isCurrent) request.value = loaded;
      },
      () => {
        if (isCurrent) request.value = 'gone';
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [number, durationMs]);
  useEffect(() => title.current?.focus({ preventScroll: true }), [number]);

  const loaded = request.value;
  return (
    <aside class="card detail" aria-labelledby="detail-title">
      <header>
        <h2 id="detail-title" ref={title} tabIndex={-1}>
          Request {number}
        </h2>
        <a class="button small" href="#requests">
          Close
        </a>
      </header>
      {loaded === 'gone' && <p class="dim">The log no longer has this request.</p>}
      {loaded !== undefined && loaded !== 'gone' && loaded.number === number && <Loaded request={loaded} />}
    </aside>
  );
}

function Loaded({ request }: { readonly request: Request }) {
  const { method, url, startedAt, durationMs, key, fault, idempotencyKey, response } = request;
  const kind = outcomeOf(request);
  const copyCurl = () =>
    curlOf(request, { origin: location.origin, key: key === null ? undefined : state.value?.keys[key]?.key });
  const copyTest = () =>
    testOf(request, rulesOf(request, state.value?.faults ?? []), {
      conditions: Object.keys(tables.value?.conditions ?? {}),
      collections: Object.keys(state.value?.records.main ?? {}),
    });
  return (
    <div class="detail-body">
      <p class="mono request-line">
        <b>{method}</b> {decoded(url)}
      </p>
      <p class="facts">
        <span class={`badge ${kind}`}>{outcomeText(request)}</span>
        {durationMs !== null && <span>{durationText(durationMs)}</span>}
        <span>{timeText(startedAt)}</span>
        <span>key {key ?? 'missing or unknown'}</span>
        {fault !== null && <span class="fault-name">{fault}</span>}
      </p>
      <div class="buttons">
        <Copy text={copyCurl} label="Copy as curl" />
        <Copy text={copyTest} label="Copy as test" />
        {idempotencyKey !== null && <Attempts idempotencyKey={idempotencyKey} number={request.number} />}
      </div>
      <h3>Request</h3>
      <Headers headers={request.headers} />
      <Body body={request.body} bytes={request.bodyBytes} />
      <h3>Response</h3>
      {response === null ? (
        <p class="dim">{durationMs === null ? 'Not yet.' : 'The client closed the connection before.'}</p>
      ) : (
        <>
          {response.sent === 'nothing' && (
            <p class="dim">
              {request.status === null
                ? 'The request did not reach the service.'
                : 'The service processed the request. Nothing of its response was sent.'}
            </p>
          )}
          <Headers headers={response.headers} />
          <Body body={response.body} bytes={response.bodyBytes} />
        </>
      )}
    </div>
  );
}

/** The other attempts under the same idempotency key. */
function Attempts({ idempotencyKey, number }: { readonly idempotencyKey: string; readonly number: number }) {
  const others = [...entries.values()].filter(
    (entry) => entry.idempotencyKey === idempotencyKey && entry.number !== number,
  );
  if (others.length === 0) return null;
  return (
    <span class="attempts">
      {others.some((entry) => entry.number < number) ? 'Retry of' : 'Sent again as'}{' '}
      {others.map((entry) => (
        <a key={entry.number} href={`#requests/${entry.number}`}>
          #{entry.number}
        </a>
      ))}
    </span>
  );
}

/** The faults that a request met, with their conditions, as far as they are known. */
function rulesOf({ fault, faults }: Request, rules: readonly Rule[]): readonly Json[] {
  const met = rules.filter(({ id }) => faults.includes(id)).map(({ rule }) => rule);
  return fault === null || met.some(({ kind }) => kind === fault) ? met : [...met, { kind: fault }];
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers);
  if (lines.length === 0) return null;
  return (
    <details class="headers" open={lines.length < 8}>
      <summary>{countText(lines.length, 'header')}</summary>
      <dl>
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Body({ body, bytes }: { readonly body: unknown; readonly bytes: number }) {
  if (bytes === 0) return <p class="dim">No body.</p>;
  if (body === null || body === undefined)
    return <p class="dim">{bytesText(bytes)}, which are no longer kept.</p>;
  const isCut = typeof body === 'string' && bytes > 65_536;
  return (
    <>
      <JsonView value={body} />
      {isCut && <p class="dim">The first 64 kB of {bytesText(bytes)}.</p>}
    </>
  );
}
