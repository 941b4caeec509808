import { createClient } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { COLLECTIONS } from '../../src/copy.ts';
import type { Sql } from '../../src/database.ts';

/** Companies with their books. */
export class Companies {
  readonly sandboxes: ReadonlyMap<string, Sandbox>;

  constructor(options: Readonly<Record<string, SandboxOptions>>) {
    this.sandboxes = new Map(Object.entries(options).map(([tenant, each]) => [tenant, createSandbox(each)]));
  }

  get tenants(): string[] {
    return [...this.sandboxes.keys()];
  }

  of(tenant: string): Sandbox {
    const sandbox = this.sandboxes.get(tenant);
    if (sandbox === undefined) throw new Error(`no books of ${tenant}`);
    return sandbox;
  }

  readonly clientOf = (tenant: string) => createClient(this.of(tenant).clientOptions);

  /** Every record of every company, as the service has it. */
  records(): string[] {
    return this.tenants
      .flatMap((tenant) =>
        COLLECTIONS.flatMap((collection) =>
          this.of(tenant)
            .store[collection].all()
            .map((record) => line(tenant, collection, record)),
        ),
      )
      .sort();
  }
}

/** Every record of the copy. */
export async function copied(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ tenant: string; collection: string; data: { id: string } }>(
    'select tenant, collection, data from record',
  );
  return rows.map(({ tenant, collection, data }) => line(tenant, collection, data)).sort();
}

function line(tenant: string, collection: string, record: { id: string }): string {
  const { id, ...fields } = record;
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${tenant} ${collection} ${id} ${JSON.stringify(sorted)}`;
}
