import type { Entry } from '../../../testing/window/timeline/entry.ts';
import type { Settings } from './settings.ts';

/** From the page to the worker that runs a program. */
export interface RunRequest {
  /** JavaScript, as a module. */
  readonly code: string;
  readonly settings: Settings;
}

/** From the worker to the page. */
export type RunMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'printed'; readonly level: Level; readonly text: string }
  | { readonly kind: 'request'; readonly entry: Entry }
  /** The program has come to its end. Its timers may still run. */
  | { readonly kind: 'ended'; readonly ms: number }
  | { readonly kind: 'failed'; readonly text: string };

export type Level = 'log' | 'info' | 'warn' | 'error';

/** From the page to the worker that knows the types. */
export type LanguageRequest =
  | { readonly kind: 'diagnostics'; readonly code: string }
  | { readonly kind: 'completions'; readonly code: string; readonly at: number }
  | { readonly kind: 'details'; readonly code: string; readonly at: number; readonly name: string }
  | { readonly kind: 'hover'; readonly code: string; readonly at: number }
  | { readonly kind: 'compile'; readonly code: string };

/** What the worker that knows the types responds to each kind. */
export interface LanguageResponses {
  readonly diagnostics: readonly Diagnostic[];
  readonly completions: { readonly from: number; readonly entries: readonly Completion[] } | undefined;
  readonly details: Documentation | undefined;
  readonly hover: (Documentation & { readonly from: number; readonly to: number }) | undefined;
  readonly compile: string;
}

export interface Diagnostic {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
}

export interface Completion {
  readonly name: string;
  /** As CodeMirror names kinds. */
  readonly type: string;
  readonly rank: string;
}

export interface Documentation {
  readonly signature: string;
  readonly text: string;
}
