import { sentence } from '../internal/text.ts';
import { AccountingError, type CallFacts } from './accounting-error.ts';

/** An option or argument that cannot be right. Nothing was sent. The message never quotes the value. */
export class InvalidInputError extends AccountingError {
  static override readonly brand: string = 'InvalidInputError';
  override readonly code = 'invalid_input';
  /** The option or argument, as a path such as `id.gt` or `draft.salePrice`. */
  readonly argument: string;

  constructor(argument: string, problem: string, facts: CallFacts = {}, options?: ErrorOptions) {
    super(sentence(`${argument}: ${problem}`), { ...facts, outcome: 'not_sent', retryable: false }, options);
    this.argument = argument;
  }
}
