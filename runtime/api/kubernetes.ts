/** The parts of Kubernetes' own objects that this project reads or writes. Everything else in them passes through untouched. */

import type { KubeObject, ObjectMeta } from '../engine/types.ts';
import type { LabelSelector } from './kubernetes-network.ts';

export type * from './kubernetes-network.ts';

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

export interface SecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
}

/** A request by which the kubelet looks after a container: of a probe, or of a lifecycle hook (which has no gRPC form). */
export interface Asking {
  readonly httpGet?: {
    /** Default: the pod's own address. */
    readonly host?: string;
    readonly path?: string;
    readonly port: number | string;
    readonly scheme?: string;
  };
  readonly grpc?: { readonly port: number };
}

export interface Probe extends Asking {
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
  readonly timeoutSeconds?: number;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly protocol?: string;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

export interface ResourceRequirements {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly ContainerPort[];
  readonly resources?: ResourceRequirements;
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Asking; readonly preStop?: Asking };
  readonly terminationMessagePolicy?: string;
  /** `Always` makes an init container a native sidecar (Kubernetes 1.29 and later). */
  readonly restartPolicy?: 'Always';
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly csi?: { readonly driver: string; readonly readOnly?: boolean };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly secret?: { readonly secretName: string; readonly optional?: boolean; readonly defaultMode?: number };
  readonly configMap?: { readonly name: string; readonly optional?: boolean };
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly hostNetwork?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  /** Of the pod as a whole. */
  readonly resources?: ResourceRequirements;
  readonly securityContext?: {
    readonly fsGroup?: number;
    readonly runAsUser?: number;
    readonly runAsNonRoot?: boolean;
  };
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly podIP?: string;
    /** Of both families; the first is `podIP`. */
    readonly podIPs?: readonly { readonly ip: string }[];
  };
}

export interface PodTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec: PodSpec;
}

/** A condition of one of Kubernetes' own workloads. */
export type WorkloadCondition = Readonly<{ type: string; status: string; message?: string }>;

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly WorkloadCondition[];
  };
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: { readonly type?: string };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly currentNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
  };
}

export interface Job extends KubeObject {
  readonly spec: { readonly suspend?: boolean; readonly selector?: LabelSelector; readonly template: PodTemplate };
  readonly status?: {
    readonly startTime?: string;
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly conditions?: readonly WorkloadCondition[];
  };
}

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly jobTemplate: { readonly metadata?: ObjectMeta; readonly spec: { readonly template: PodTemplate } };
  };
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: PodTemplate };
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export type Namespace = KubeObject;
export type ServiceAccount = KubeObject;
export type CSIDriver = KubeObject;

export interface CustomResourceDefinition extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface WebhookEntry {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: {
      readonly namespace: string;
      readonly name: string;
      readonly path?: string;
      readonly port?: number;
    };
  };
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly WebhookEntry[];
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
