import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Language } from './language.ts';
import type { Documentation } from './messages.ts';

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.modifier],
    color: 'var(--code-keyword)',
  },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: 'var(--code-function)',
  },
  { tag: [tags.typeName, tags.className], color: 'var(--code-type)' },
]);

/** An editor of TypeScript that knows the types of the package. */
export function createEditor(
  parent: HTMLElement,
  code: string,
  { language, onRun, onChange }: { language: Language; onRun: () => void; onChange: (code: string) => void },
): EditorView {
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: code,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        indentUnit.of('  '),
        javascript({ typescript: true }),
        syntaxHighlighting(colours),
        autocompletion({ override: [(context) => complete(context, language)], activateOnTypingDelay: 50 }),
        linter((view) => language.ask({ kind: 'diagnostics', code: view.state.doc.toString() }), {
          delay: 300,
        }),
        lintGutter(),
        hoverTooltip(async (view, at) => {
          const found = await language.ask({ kind: 'hover', code: view.state.doc.toString(), at });
          if (found === undefined) return null;
          return {
            pos: found.from,
            end: found.to,
            above: true,
            create: () => ({ dom: documentationElement(found) }),
          };
        }),
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              onRun();
              return true;
            },
          },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          // Escape, then Tab, leaves the editor.
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': 'Program', tabindex: '0' }),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}

async function complete(context: CompletionContext, language: Language): Promise<CompletionResult | null> {
  const before = context.matchBefore(/[\w$.'"/@-]$/);
  if (before === null && !context.explicit) return null;
  const code = context.state.doc.toString();
  const at = context.pos;
  const found = await language.ask({ kind: 'completions', code, at });
  if (found === undefined || context.aborted) return null;
  return {
    from: found.from,
    validFor: /^[\w$]*$/,
    options: found.entries.map(({ name, type, rank }) => ({
      label: name,
      type,
      // Names of the object come before those of the language.
      boost: rank <= '11' ? 2 : rank.startsWith('z') ? -2 : 0,
      info: async () => {
        const details = await language.ask({ kind: 'details', code, at, name });
        return details === undefined ? null : documentationElement(details);
      },
    })),
  };
}

function documentationElement({ signature, text }: Documentation): HTMLElement {
  const element = document.createElement('div');
  element.className = 'documentation';
  const code = document.createElement('code');
  code.textContent = signature;
  const prose = document.createElement('p');
  prose.textContent = text;
  element.append(code, prose);
  return element;
}
