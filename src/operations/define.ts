/*
 * Glossary
 *   operation  one of the six queries that the service offers, as a REST route and as an MCP tool
 *   caller     the shop, key and scopes of one admitted request
 *   tier       the shop's plan with us; a *plan* is always a selling plan
 *   now        read once per answer; every window of the answer is measured from it
 *   payload    the result of an operation: the REST body, and the MCP tool's structured content
 */
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { ReadConnections } from '../store/connections/read-connections.ts';
import type { JsonText } from './coalesce.ts';
import type { Scope } from '../vocabulary.ts';

/** The part of the caller that operations see. */
export interface OperationCaller {
  readonly shopId: number;
  /** The shop's currency, ISO 4217. */
  readonly currency: string;
  readonly scopes: readonly Scope[];
}

/** The caller's shop, as queries take it that round amounts. */
export const shopOf = ({ shopId: id, currency }: OperationCaller) => ({ id, currency });

/** A value as a read-only constant. */
type Example<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Example<Value[Key]> }
  : Value;

interface OperationContext {
  readonly caller: OperationCaller;
  /** The primary, or a standby with low enough lag. */
  readonly store: ReadConnections;
  /** Read once, when the request's data is about to be read. */
  readonly clock: Clock;
}

/** Typed by its input and output; the defaults serve code that handles all operations alike. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  /** snake_case; the REST operationId is the same in camelCase. */
  readonly tool: string;
  /** Relative to the REST base path, with parameters in braces. */
  readonly path: string;
  /** The parameter in the path, and the input field that it sets. */
  readonly pathParameter?: { readonly name: string; readonly input: string };
  readonly scope: Scope;
  readonly title: string;
  /** What the operation returns, in one sentence for people. */
  readonly description: string;
  /** For models that choose a tool and its arguments: short, with units and limits. */
  readonly toolDescription: string;
  /** JSON values; REST converts the text of a request first. */
  readonly input: Input;
  readonly output: Output;
  /** One realistic request and response, for the reference. */
  readonly example: { readonly input: z.input<Input>; readonly output: Example<z.output<Output>> };
  /** Errors besides those that every operation can have. */
  readonly fails: readonly ('invalid' | 'notFound')[];
  /** @param input as parsed by `input` */
  run(context: OperationContext, input: z.output<Input>): Promise<z.input<Output> | JsonText>;
}

/** Infers the types of an operation. */
export function defineOperation<Input extends z.ZodObject, Output extends z.ZodObject>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}
