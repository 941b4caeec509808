import { isPlainObject } from '../../internal/options.ts';
import { isOptionError } from '../checks.ts';
import type { Core } from '../exchange.ts';
import { decodeText, type ServiceRequest, type ServiceResponse } from '../message.ts';
import { ProblemError, problemResponse } from '../service/problem.ts';
import type { ControlResponse } from './call.ts';
import { CONTROL_PATH, guard } from './guard.ts';
import { RequestLog } from './request-log.ts';
import { findRoute } from './routes.ts';

/** The control of a sandbox over HTTP: a request below `/_sandbox` in, a response out. */
export class Control {
  readonly log: RequestLog;
  /** Called after a change that is not a request to the service: of faults, records, the clock, keys or everything. */
  onChange: () => void = () => {};
  readonly #core: Core;
  readonly #hosts: readonly string[] | undefined;

  constructor(core: Core, hosts: readonly string[] | undefined) {
    this.#core = core;
    this.#hosts = hosts;
    this.log = new RequestLog(core);
    core.observers.add(this.log);
  }

  /** What is wrong with a request whose body has not been read yet; undefined if nothing is. */
  reject(request: Omit<ServiceRequest, 'body'>): ServiceResponse | undefined {
    return answered(() => {
      guard(request, this.#hosts);
      return undefined;
    });
  }

  tooLarge(most: number): ServiceResponse {
    return problem(new ProblemError('content_too_large', `A body may have at most ${most} bytes.`));
  }

  /** Carries out a request that was not rejected. */
  respond({ method, path, query, body }: ServiceRequest): ControlResponse {
    return answered(() => {
      const { handle, parameters } = findRoute(method, path.slice(CONTROL_PATH.length));
      const response = handle({ core: this.#core, log: this.log, query, body: objectIn(body), parameters });
      if (method !== 'GET' && method !== 'HEAD') this.onChange();
      return response;
    });
  }

  /** Stops following the requests. */
  close(): void {
    this.#core.observers.delete(this.log);
  }
}

/** The object in a body; an empty body is an empty object. */
function objectIn(body: Uint8Array): Readonly<Record<string, unknown>> {
  const value = body.byteLength === 0 ? {} : parsed(body);
  if (!isPlainObject(value)) throw new ProblemError('malformed_request', 'The body must be a JSON object.');
  return value as Readonly<Record<string, unknown>>;
}

function parsed(body: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(decodeText(body));
  } catch {
    throw new ProblemError('malformed_request', 'The body is not JSON in UTF-8.');
  }
  try {
    // A record that cannot be written again would fail each list of its collection.
    JSON.stringify(value);
    return value;
  } catch {
    throw new ProblemError('malformed_request', 'The body is nested too deeply.');
  }
}

/** Its result, or the problem document of what it throws. */
function answered<T>(run: () => T): T | ServiceResponse {
  try {
    return run();
  } catch (error) {
    return controlProblem(error);
  }
}

/** A problem document. An option or a field that is wrong is named. */
function controlProblem(error: unknown): ServiceResponse {
  if (error instanceof ProblemError) return problem(error);
  if (!isOptionError(error)) throw error;
  const { message, path } = error;
  return problem(
    new ProblemError('validation_failed', message, { violations: [{ propertyPath: path, message }] }),
  );
}

function problem({ problem }: ProblemError): ServiceResponse {
  return problemResponse(problem, { problemType: 'bare', notFoundBody: undefined });
}
