// Writes the descriptors of the protocols the sidecar speaks, and of what they refer to, as one FileDescriptorSet.
package main

import (
	"fmt"
	"os"
	"sort"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/http_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/direct_response/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/internal_upstream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/raw_buffer/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	_ "github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
)

// The files everything starts from: a file that none of them refers to by a type is left out.
var roots = []string{
	"envoy/config/cluster/v3/cluster.proto",
	"envoy/config/listener/v3/listener.proto",
	"envoy/extensions/access_loggers/stream/v3/stream.proto",
	"envoy/extensions/filters/http/ext_proc/v3/ext_proc.proto",
	"envoy/extensions/filters/http/lua/v3/lua.proto",
	"envoy/extensions/filters/http/router/v3/router.proto",
	"envoy/extensions/filters/http/set_filter_state/v3/set_filter_state.proto",
	"envoy/extensions/filters/listener/http_inspector/v3/http_inspector.proto",
	"envoy/extensions/filters/listener/original_dst/v3/original_dst.proto",
	"envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.proto",
	"envoy/extensions/filters/network/direct_response/v3/config.proto",
	"envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto",
	"envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.proto",
	"envoy/extensions/transport_sockets/internal_upstream/v3/internal_upstream.proto",
	"envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer.proto",
	"envoy/extensions/transport_sockets/tls/v3/tls.proto",
	"envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config.proto",
	"envoy/extensions/upstreams/http/v3/http_protocol_options.proto",
	"envoy/service/discovery/v3/ads.proto",
	"envoy/service/ext_proc/v3/external_processor.proto",
}

func main() {
	files := map[string]*descriptorpb.FileDescriptorProto{}
	for _, root := range roots {
		add(files, root)
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if file.Services().ByName("SpiffeWorkloadAPI") != nil {
			add(files, file.Path())
		}
		return true
	})
	set := &descriptorpb.FileDescriptorSet{}
	done := map[string]bool{}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	var place func(name string)
	place = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		for _, dependency := range files[name].Dependency {
			place(dependency)
		}
		set.File = append(set.File, files[name])
	}
	for _, name := range names {
		place(name)
	}
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "%d files, %d bytes\n", len(set.File), len(bytes))
	os.Stdout.Write(bytes)
}

// Adds a file and those its types refer to, without options (validation rules, annotations), which nothing here reads.
func add(files map[string]*descriptorpb.FileDescriptorProto, name string) {
	if files[name] != nil {
		return
	}
	descriptor, err := protoregistry.GlobalFiles.FindFileByPath(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	file := protodesc.ToFileDescriptorProto(descriptor)
	files[name] = file
	file.Options = nil
	file.Extension = nil
	used := map[string]bool{}
	for _, message := range file.MessageType {
		strip(message, used)
	}
	for _, enum := range file.EnumType {
		stripEnum(enum)
	}
	for _, service := range file.Service {
		service.Options = nil
		for _, method := range service.Method {
			method.Options = nil
			used[*method.InputType] = true
			used[*method.OutputType] = true
		}
	}
	kept := []string{}
	for _, dependency := range file.Dependency {
		if provides(dependency, used) {
			kept = append(kept, dependency)
		}
	}
	file.Dependency = kept
	file.PublicDependency = nil
	file.WeakDependency = nil
	for _, dependency := range kept {
		add(files, dependency)
	}
}

func strip(message *descriptorpb.DescriptorProto, used map[string]bool) {
	if message.Options != nil {
		message.Options = &descriptorpb.MessageOptions{MapEntry: message.Options.MapEntry}
	}
	message.Extension = nil
	for _, field := range message.Field {
		if field.Options != nil {
			field.Options = &descriptorpb.FieldOptions{Packed: field.Options.Packed}
		}
		if field.TypeName != nil {
			used[*field.TypeName] = true
		}
	}
	for _, oneof := range message.OneofDecl {
		oneof.Options = nil
	}
	for _, nested := range message.NestedType {
		strip(nested, used)
	}
	for _, enum := range message.EnumType {
		stripEnum(enum)
	}
}

func stripEnum(enum *descriptorpb.EnumDescriptorProto) {
	enum.Options = nil
	for _, value := range enum.Value {
		value.Options = nil
	}
}

func provides(name string, used map[string]bool) bool {
	file, err := protoregistry.GlobalFiles.FindFileByPath(name)
	if err != nil {
		return false
	}
	return inMessages(file.Messages(), used) || inEnums(file.Enums(), used)
}

func inMessages(messages protoreflect.MessageDescriptors, used map[string]bool) bool {
	for at := 0; at < messages.Len(); at++ {
		message := messages.Get(at)
		if used["."+string(message.FullName())] || inMessages(message.Messages(), used) || inEnums(message.Enums(), used) {
			return true
		}
	}
	return false
}

func inEnums(enums protoreflect.EnumDescriptors, used map[string]bool) bool {
	for at := 0; at < enums.Len(); at++ {
		if used["."+string(enums.Get(at).FullName())] {
			return true
		}
	}
	return false
}
