import type { OptionTable, ResolvedOptions } from '../../internal/options.ts';
import { printable } from '../../internal/suggestion.ts';
import { at, resolved } from '../checks.ts';
import type { Core } from '../exchange.ts';
import { encodeText, type ServiceResponse } from '../message.ts';
import type { RequestLog } from './request-log.ts';

/** A request to the control of a sandbox. */
export interface ControlCall {
  readonly core: Core;
  readonly log: RequestLog;
  /** As sent. */
  readonly query: string;
  /** The object in the body; empty if there is no body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The parts of the path that its route names, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A response, or the beginning of a stream of events. */
export interface ControlResponse extends ServiceResponse {
  readonly follow?: { readonly after: number | undefined; readonly bodies: boolean };
}

/** A response with a value as JSON. */
export function json(value: unknown, status = 200): ControlResponse {
  return jsonText(JSON.stringify(value), status);
}

/** A response with a text that is JSON already. */
export function jsonText(text: string, status = 200): ControlResponse {
  return { status, headers: { 'Content-Type': 'application/json' }, body: encodeText(text) };
}

export const NOTHING: ControlResponse = { status: 204, headers: {}, body: undefined };

/** The parameters of the query, checked by a table. A number and a flag are written as in JSON. */
export function queryOf<Table extends OptionTable>(table: Table, call: ControlCall): ResolvedOptions<Table> {
  const names = new Set<string>();
  const given = [...new URLSearchParams(call.query)].map(([name, text]) => {
    if (names.has(name)) throw at(name, new TypeError(`The query has ${printable(name)} twice.`));
    names.add(name);
    return [name, readAs(table[name], text)];
  });
  return resolved(table, Object.fromEntries(given), 'the query');
}

/** A string if it may be one; otherwise what the text is in JSON. */
function readAs(check: OptionTable[string] | undefined, text: string): unknown {
  if (check === undefined || check.allows(text) || !/^(?:true|false|\d+)$/.test(text)) return text;
  return JSON.parse(text);
}
