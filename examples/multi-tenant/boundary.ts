/** One admission policy over the namespaces of all tenants, and its binding. */

import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';

/** What is looked at. */
export interface Subject {
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resources: readonly string[];
}

/** A rule: CEL, what is said when it does not hold, and the same with names where it is CEL too. */
export type Rule = readonly [expression: string, message: string, messageExpression?: string];

/** What one policy says. */
export interface BoundaryProps {
  readonly name: string;
  readonly subjects: readonly Subject[];
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** CEL: which requests are looked at. */
  readonly when: string;
  /**
   * CEL that rules refer to as `variables.<name>`; each may use those before it.
   * @default none
   */
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly rules: readonly Rule[];
}

const api = 'admissionregistration.k8s.io';

/** A ValidatingAdmissionPolicy that refuses, in these namespaces, what does not keep every rule. */
export class Boundary extends Construct {
  constructor(scope: Construct, namespaces: readonly string[], props: BoundaryProps) {
    const { name, subjects, operations, when, variables, rules } = props;
    super(scope, name);
    this.#object('ValidatingAdmissionPolicy', name, {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }],
        },
        resourceRules: subjects.map(({ apiGroup, apiVersion, resources }) => ({
          apiGroups: [apiGroup],
          apiVersions: [apiVersion],
          operations,
          resources,
          scope: 'Namespaced',
        })),
      },
      matchConditions: [{ name: 'concerns-the-platform', expression: when }],
      ...(variables === undefined ? {} : { variables }),
      validations: rules.map(([expression, message, messageExpression]) => ({
        expression,
        message,
        ...(messageExpression === undefined ? {} : { messageExpression }),
        reason: 'Forbidden',
      })),
    });
    this.#object('ValidatingAdmissionPolicyBinding', name, { policyName: name, validationActions: ['Deny'] });
  }

  #object(kind: string, name: string, spec: unknown): void {
    new ApiObject(this, kind, { apiVersion: `${api}/v1`, kind, metadata: { name }, spec });
  }
}
