import assert from 'node:assert/strict';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** A record: what every resource has is an id. */
export type ServiceRecord = Json & { readonly id: string };

/** The response to a request. Its getters fail the check if the response has another form. */
export class ContractResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `GET /accounts?_page=2`, for messages. */
  readonly call: string;

  constructor(call: string, response: Response, text: string) {
    this.call = call;
    this.status = response.status;
    this.headers = response.headers;
    this.text = text;
  }

  /** The media type, without parameters. */
  get mediaType(): string {
    return (this.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  }

  get json(): unknown {
    try {
      return JSON.parse(this.text);
    } catch {
      return assert.fail(`${this.call}: the body is not JSON`);
    }
  }

  /** The body as a JSON object. */
  get object(): Json {
    const { json } = this;
    assert.ok(
      typeof json === 'object' && json !== null && !Array.isArray(json),
      `${this.call}: the body is not an object`,
    );
    return json as Json;
  }

  /** The body of a success as one record. */
  get record(): ServiceRecord {
    this.expectSuccess();
    const { object } = this;
    assert.equal(typeof object.id, 'string', `${this.call}: id is a string`);
    return object as ServiceRecord;
  }

  /** The body of a success as a list of records. */
  get list(): readonly ServiceRecord[] {
    this.expectStatus(200);
    const { json } = this;
    assert.ok(Array.isArray(json), `${this.call}: the body is an array`);
    for (const record of json) assert.equal(typeof record?.id, 'string', `${this.call}: id is a string`);
    return json as ServiceRecord[];
  }

  get ids(): readonly string[] {
    return this.list.map(({ id }) => id);
  }

  /** The error type: the last segment of `type`, whose form the specification leaves open. */
  get errorType(): string {
    const { type } = this.object;
    assert.equal(typeof type, 'string', `${this.call}: the problem has a type`);
    return String(type).split(/[/#:]/).at(-1) ?? '';
  }

  expectStatus(...statuses: number[]): this {
    assert.ok(
      statuses.includes(this.status),
      `${this.call}: ${this.status} instead of ${statuses.join(' or ')}`,
    );
    return this;
  }

  expectSuccess(): this {
    assert.ok(this.status >= 200 && this.status < 300, `${this.call}: ${this.status} instead of a success`);
    return this;
  }

  /** A problem document of this status and one of these types. */
  expectProblem(status: number, ...types: string[]): this {
    this.expectStatus(status);
    assert.ok(
      types.includes(this.errorType),
      `${this.call}: type ${this.errorType} instead of ${types.join(' or ')}`,
    );
    return this;
  }

  expectUnauthenticated(): this {
    return this.expectProblem(401, 'unauthenticated');
  }

  expectForbidden(): this {
    return this.expectProblem(403, 'forbidden', 'scope_required');
  }

  expectNotFound(): this {
    return this.expectProblem(404, 'not_found');
  }
}
