package expr

import (
	"encoding/binary"

	"github.com/google/nftables/binaryutil"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// marshal hands packets to user space through the xtables NFQUEUE target, revision 3,
// because a kernel may carry that target without the nftables queue expression.
func (e *Queue) marshal(byte) ([]byte, error) {
	if e.Total == 0 {
		e.Total = 1
	}
	info := make([]byte, 8) // struct xt_NFQ_info_v3, aligned: queuenum, queues_total, flags
	binary.NativeEndian.PutUint16(info[0:], e.Num)
	binary.NativeEndian.PutUint16(info[2:], e.Total)
	binary.NativeEndian.PutUint16(info[4:], uint16(e.Flag))
	target, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: unix.NFTA_TARGET_NAME, Data: []byte("NFQUEUE\x00")},
		{Type: unix.NFTA_TARGET_REV, Data: binaryutil.BigEndian.PutUint32(3)},
		{Type: unix.NFTA_TARGET_INFO, Data: info},
	})
	if err != nil {
		return nil, err
	}
	return netlink.MarshalAttributes([]netlink.Attribute{
		{Type: unix.NFTA_EXPR_NAME, Data: []byte("target\x00")},
		{Type: unix.NLA_F_NESTED | unix.NFTA_EXPR_DATA, Data: target},
	})
}
