import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { ExactNumber } from './api.ts';
import { say } from './store.ts';

/** A button that copies a text. */
export function Copy({
  text,
  label = 'Copy',
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const isDone = useSignal(false);
  const copy = async () => {
    try {
      await copyText(typeof text === 'string' ? text : text());
      isDone.value = true;
      setTimeout(() => {
        isDone.value = false;
      }, 1_500);
    } catch {
      say('The browser does not allow copying here.', true);
    }
  };
  return (
    <button type="button" class="button small" onClick={copy}>
      {isDone.value ? 'Copied' : label}
    </button>
  );
}

/** Only pages of this machine, and those over HTTPS, have the clipboard of `navigator`. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('not allowed');
}

/** Code with a button that copies it. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <figure class="code">
      <figcaption>
        {label}
        <Copy text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard. */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}

/** JSON with colours, in lines. */
export function JsonView({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard.
    <pre class="json" tabIndex={0}>
      {typeof value === 'string' ? value : nodesOf(value, '')}
    </pre>
  );
}

function nodesOf(value: unknown, indent: string): ComponentChildren {
  if (value instanceof ExactNumber) return <span class="number">{value.digits}</span>;
  if (typeof value === 'string') return <span class="string">{JSON.stringify(value)}</span>;
  if (typeof value === 'number') return <span class="number">{value}</span>;
  if (typeof value !== 'object' || value === null) return <span class="word">{String(value)}</span>;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value);
  if (members.length === 0) return open + close;
  return (
    <>
      {open}
      {members.map(([name, member], index) => (
        <>
          {`\n${inner}`}
          {!isList && <span class="name">{JSON.stringify(name)}</span>}
          {!isList && ': '}
          {nodesOf(member, inner)}
          {index < members.length - 1 && ','}
        </>
      ))}
      {`\n${indent}${close}`}
    </>
  );
}

/** JSON as a user edits it. */
export function prettyText(value: unknown, indent = ''): string {
  if (value instanceof ExactNumber) return value.digits;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((member) => prettyText(member, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${prettyText(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return members.length === 0
    ? open + close
    : `${open}\n${members.map((line) => inner + line).join(',\n')}\n${indent}${close}`;
}

/** What ties a control to its label and its hint. */
interface Tied {
  readonly id: string;
  readonly 'aria-describedby'?: string;
}

/** A label, its control, and a sentence about it. */
export function Field({
  label,
  hint,
  isCode = false,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isCode?: boolean;
  readonly children: (tied: Tied) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isCode ? 'mono' : undefined}>
        {label}
      </label>
      {children({ id, ...(hint !== undefined && { 'aria-describedby': `${id}-hint` }) })}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          <Prose text={hint} />
        </span>
      )}
    </div>
  );
}

/** On or off, and what it says. */
export function Switch({
  isOn,
  label,
  onChange,
}: {
  readonly isOn: boolean;
  readonly label: string;
  readonly onChange: () => void;
}) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={isOn}
      aria-label={label}
      onClick={onChange}
    >
      <span />
    </button>
  );
}

/** Text with `code` in it, as the doc comments of the options have it. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split(/`([^`]+)`/)
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
