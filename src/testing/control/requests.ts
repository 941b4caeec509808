import { option, optional } from '../../internal/options.ts';
import { is } from '../checks.ts';
import { ProblemError } from '../service/problem.ts';
import { type ControlCall, type ControlResponse, json, jsonText, NOTHING, queryOf } from './call.ts';
import { requestText } from './request-log.ts';

const logQuery = {
  /** Only requests with a higher number. */
  after: optional(is.integerFrom(0)),
  /** Whether the bodies, and the ids of lists, are part of it. */
  bodies: option(is.flag, true),
};

/** `GET /requests`: the log, oldest first. */
export function listRequests(call: ControlCall): ControlResponse {
  const { after = 0, bodies } = queryOf(logQuery, call);
  const entries = call.log.list(({ number }) => number > after);
  const texts = entries.map((recorded) => requestText(recorded, { bodies }));
  return jsonText(`{"last":${call.log.last},"requests":[${texts.join(',')}]}`);
}

/** `GET /requests/:number`. */
export function getRequest({ log, parameters }: ControlCall): ControlResponse {
  const [recorded] = log.list(({ number }) => String(number) === parameters.number);
  if (recorded === undefined)
    throw new ProblemError('not_found', `The log has no request ${parameters.number}.`);
  return jsonText(requestText(recorded, { bodies: true }));
}

/** `DELETE /requests`: empties the log and the journal. */
export function clearRequests(call: ControlCall): ControlResponse {
  call.core.clearLogs();
  return NOTHING;
}

/** `GET /events`: the same as server-sent events, from now on or after a request. */
export function followRequests(call: ControlCall): ControlResponse {
  const { after, bodies } = queryOf(logQuery, call);
  // Without a transformation by a proxy, which would wait for more.
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store, no-transform' };
  return { status: 200, headers, body: undefined, follow: { after, bodies } };
}

const journalQuery = {
  /** Only so many of the last changes. */
  limit: option(is.integerFrom(1), 10_000),
};

/** `GET /journal`: the last changes of records, oldest first. */
export function listJournal(call: ControlCall): ControlResponse {
  const { limit } = queryOf(journalQuery, call);
  return json({ changes: call.core.state.journal.list().slice(-limit) });
}
