package namespace

var fixture = map[string]int{} // tests keep what they like

func init() { fixture["a"] = 1 }
