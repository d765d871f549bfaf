package schedule_test

import (
	"fmt"

	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// Two tenants share one slot. A has a long run of items that cost 2, and B comes
// later with two cheap ones: it starts level with A and not with all that A has had.
func Example() {
	s := schedule.New(5000)
	slot := schedule.Request{Pool: "durable", MaxItems: 2}
	pick := func(now int64) {
		p, ok := s.Pick(now, slot)
		if !ok {
			fmt.Println(now, "nothing to do")
			return
		}
		run, _ := s.Run(p.Run)
		tenant, _ := s.Tenant(run.Tenant)
		fmt.Printf("%5d %s items %v, attained %d, aged %t\n", now, run.Tenant, p.Items, tenant.Attained, p.Aged)
		s.Settle(p.Run, p.Items, p.Cost)
	}
	_ = s.Admit(0, schedule.Run{ID: 1, Tenant: "A", Pool: "durable", Kind: "k", Costs: []int64{2, 2, 2, 2, 2, 2}})
	pick(0)
	_ = s.Admit(10, schedule.Run{ID: 2, Tenant: "B", Pool: "durable", Kind: "k", Costs: []int64{1, 1, 1}})
	pick(20)
	pick(30)
	pick(40)
	pick(50)
	pick(60)
	// Output:
	//     0 A items [0 1], attained 4, aged false
	//    20 B items [0 1], attained 6, aged false
	//    30 A items [2 3], attained 8, aged false
	//    40 B items [2], attained 7, aged false
	//    50 A items [4 5], attained 12, aged false
	// 60 nothing to do
}
