// Values as Node's console prints them, as far as programs of the guides need it.

const MOST_WIDE = 72;
const MOST_DEEP = 2;

/** The arguments of `console.log` as a line, or several. */
export function printed(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ');
}

export function inspect(value: unknown, depth = 0, seen: readonly unknown[] = []): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return value.toString();
  if (typeof value === 'function')
    return `[${isClass(value) ? 'class' : 'Function'}${value.name === '' ? ' (anonymous)' : `: ${value.name}`}]`.replace(
      '[class: ',
      '[class ',
    );
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (seen.includes(value)) return '[Circular *1]';
  if (value instanceof Error) return errorText(value, depth, [...seen, value]);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return 'Promise { <pending> }';
  return container(value, depth, [...seen, value]);
}

function container(value: object, depth: number, seen: readonly unknown[]): string {
  const name = nameOf(value);
  const isList = Array.isArray(value) || ArrayBuffer.isView(value);
  if (depth > MOST_DEEP) return `[${isList ? 'Array' : name || 'Object'}]`;
  const inner = (one: unknown) => inspect(one, depth + 1, seen);
  if (value instanceof Map) {
    const lines = [...value].map(([key, one]) => `${inner(key)} => ${inner(one)}`);
    return block(`Map(${value.size}) {`, lines, '}', depth);
  }
  if (value instanceof Set) return block(`Set(${value.size}) {`, [...value].map(inner), '}', depth);
  if (isList) {
    const items = Array.from(value as readonly unknown[]);
    const shown = items.slice(0, 100).map(inner);
    const more = items.length > 100 ? [`... ${items.length - 100} more items`] : [];
    return block(Array.isArray(value) ? '[' : `${name}(${items.length}) [`, [...shown, ...more], ']', depth);
  }
  const lines = Object.keys(value).map((key) => {
    const { get } = Object.getOwnPropertyDescriptor(value, key) ?? {};
    return `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)}: ${get ? '[Getter]' : inner(Reflect.get(value, key))}`;
  });
  return block(name === '' ? '{' : `${name} {`, lines, '}', depth);
}

/** In one line if it fits, otherwise each in its own. */
function block(open: string, lines: readonly string[], close: string, depth: number): string {
  if (lines.length === 0) return open + close;
  const line = `${open} ${lines.join(', ')} ${close}`;
  if (line.length + 2 * depth <= MOST_WIDE && lines.length <= 6 && !line.includes('\n')) return line;
  const indent = '  '.repeat(depth + 1);
  return `${open}\n${lines.map((one) => indent + one).join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

/** The name of its class; empty for a plain object. */
function nameOf(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return '[Object: null prototype]';
  const { name = '' } =
    (prototype as { readonly constructor?: { readonly name?: string } }).constructor ?? {};
  return name === 'Object' ? '' : name;
}

function errorText(error: Error, depth: number, seen: readonly unknown[]): string {
  const { name, message, cause } = error;
  const own = Object.keys(error).filter((key) => !['name', 'message', 'stack', 'cause'].includes(key));
  const lines = own.map((key) => `${key}: ${inspect(Reflect.get(error, key), depth + 1, seen)}`);
  const why = cause === undefined ? [] : [`[cause]: ${inspect(cause, depth + 1, seen)}`];
  const all = [...lines, ...why];
  return `${name}: ${message}${all.length === 0 || depth > 0 ? '' : ` ${block('{', all, '}', depth)}`}`;
}

function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

function quoted(text: string): string {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes('`') ? '`' : "'";
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : quote === '"' ? escaped.replaceAll('"', '\\"') : escaped}${quote}`;
}
