/** The mixin `RestrictedPods`: every pod passes the Pod Security Standard "restricted", checked before a cluster does. */

import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { OrganisationRule } from './organisation-rule.ts';
import { type Json, podsOf } from './pods.ts';
import { restrictedBreaches } from './restricted-profile.ts';

/**
 * Synthesis fails on a pod or pod template, of any kind of object, that a namespace with
 * `pod-security.kubernetes.io/enforce: restricted` would refuse. It changes nothing: what a container may do is its author's to say.
 *
 * It sees what is in the app. The sidecars that the platform injects come later and are not covered; nor are pods that the controller of
 * some other custom resource makes from fields of its own.
 *
 * In a user namespace of its own (`hostUsers: false`) a pod is asked for the same. Clusters with the feature gate
 * UserNamespacesPodSecurityStandards allow it root and its own /proc, others do not: what passes here passes in both.
 */
export class RestrictedPods extends OrganisationRule {
  protected violations(construct: IConstruct): readonly string[] {
    if (!ApiObject.isApiObject(construct)) return [];
    const { kind, name } = construct;
    return podsOf(construct.toJson() as Json)
      .flatMap(restrictedBreaches)
      .map(({ rule, path, message }) => `${kind} ${name}, ${path}: ${message} (Pod Security "restricted", ${rule})`);
  }
}
