import type { SyncTarget } from 'accounting-data-sdk';

const AMOUNT = /^-?\d{1,18}\.\d{2,4}$/;

/** Finds the fields of which every value is a number or an amount: as columns without a type they compare as text. */
export class UntypedNumbers {
  /** Whether every value so far is one, by collection and name. */
  readonly #fields = new Map<string, Map<string, boolean>>();

  /** The same target, of which each batch is looked at. */
  watching(target: SyncTarget): SyncTarget {
    return {
      open: async (tenant, context) => {
        const opened = await target.open(tenant, context);
        return new Proxy(opened, {
          get: (_, name) => {
            const value: unknown = Reflect.get(opened, name);
            if (typeof value !== 'function') return value;
            return (...args: readonly unknown[]) => {
              if (name === 'onBatch') this.#see(args[0] as Parameters<typeof opened.onBatch>[0]);
              return Reflect.apply(value, opened, args) as unknown;
            };
          },
        });
      },
    };
  }

  /** The fields by collection and name, such as `accounts.creditLimit`. */
  get names(): readonly string[] {
    return [...this.#fields].flatMap(([collection, fields]) =>
      [...fields].flatMap(([name, are]) => (are ? [`${collection}.${name}`] : [])),
    );
  }

  #see({ collection, rows }: { readonly collection: string; readonly rows: readonly unknown[] }): void {
    const fields = this.#fields.get(collection) ?? new Map<string, boolean>();
    this.#fields.set(collection, fields);
    for (const row of rows) {
      for (const [name, value] of Object.entries(row ?? {})) {
        if (value === null || fields.get(name) === false || /^id$|Id$|_id$/.test(name)) continue;
        fields.set(name, typeof value === 'number' || (typeof value === 'string' && AMOUNT.test(value)));
      }
    }
  }
}
